# SPDX-License-Identifier: Apache-2.0
# Completion of sgctl for bash: the program itself says what could come next (sgctl __complete).

_sgctl()
{
	local word candidate candidates words=() i

	# bash cuts --port=vm1 in three words; sgctl takes --port and vm1 as well
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word == = ]]; then
			((i == COMP_CWORD)) && words+=("")
		else
			words+=("$word")
		fi
	done
	word=${words[-1]}
	candidates=$("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
	if [[ $candidates == :files ]]; then
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
	fi
	# not compgen -W, which would expand a name that looks like a command
	COMPREPLY=()
	while IFS= read -r candidate; do
		[[ -n $candidate && $candidate == "$word"* ]] && COMPREPLY+=("$(printf %q "$candidate")")
	done <<<"$candidates"
}
complete -F _sgctl sgctl
