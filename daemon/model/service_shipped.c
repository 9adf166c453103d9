/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services that come with the program: names and ports from IANA's "service-names-port-numbers", or from
 * what the software listens on by default. A user's service of the same name takes its place.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "model/objects.h"

#define TCP                 \
	{                   \
		IPPROTO_TCP \
	}
#define UDP                 \
	{                   \
		IPPROTO_UDP \
	}
#define TCP_UDP                          \
	{                                \
		IPPROTO_TCP, IPPROTO_UDP \
	}
#define PORT(port)                 \
	{                          \
		{                  \
			port, port \
		}                  \
	}

const struct shipped_service shipped_services[] = {
	{"amqp", TCP, PORT(5672)},
	{"bfd", UDP, {{3784, 3785}, {4784, 4784}}},
	{"bgp", TCP, PORT(179)},
	{"cassandra", TCP, PORT(9042)},
	{"dhcp", UDP, {{67, 68}}},
	{"dhcpv6", UDP, {{546, 547}}},
	{"dns", TCP_UDP, PORT(53)},
	{"dns-tls", TCP, PORT(853)},
	{"elasticsearch", TCP, {{9200, 9200}, {9300, 9300}}},
	{"etcd", TCP, {{2379, 2380}}},
	{"ftp", TCP, PORT(21)},
	{"geneve", UDP, PORT(6081)},
	{"git", TCP, PORT(9418)},
	{"http", TCP, PORT(80)},
	{"http3", UDP, PORT(443)},
	{"https", TCP, PORT(443)},
	{"ike", UDP, {{500, 500}, {4500, 4500}}},
	{"imap", TCP, PORT(143)},
	{"imaps", TCP, PORT(993)},
	{"iperf3", TCP_UDP, PORT(5201)},
	{"ipp", TCP, PORT(631)},
	{"iscsi", TCP, PORT(3260)},
	{"kafka", TCP, PORT(9092)},
	{"kerberos", TCP_UDP, PORT(88)},
	{"kube-api", TCP, PORT(6443)},
	{"ldap", TCP_UDP, PORT(389)},
	{"ldaps", TCP, PORT(636)},
	{"mdns", UDP, PORT(5353)},
	{"memcached", TCP_UDP, PORT(11211)},
	{"mongodb", TCP, PORT(27017)},
	{"mqtt", TCP, PORT(1883)},
	{"mqtts", TCP, PORT(8883)},
	{"mssql", TCP, PORT(1433)},
	{"mysql", TCP, PORT(3306)},
	{"nfs", TCP_UDP, PORT(2049)},
	{"node-exporter", TCP, PORT(9100)},
	{"ntp", UDP, PORT(123)},
	{"openvpn", TCP_UDP, PORT(1194)},
	{"oracle", TCP, PORT(1521)},
	{"pop3", TCP, PORT(110)},
	{"pop3s", TCP, PORT(995)},
	{"postgres", TCP, PORT(5432)},
	{"prometheus", TCP, PORT(9090)},
	{"radius", UDP, {{1812, 1813}}},
	{"rdp", TCP_UDP, PORT(3389)},
	{"redis", TCP, PORT(6379)},
	{"rpcbind", TCP_UDP, PORT(111)},
	{"rsync", TCP, PORT(873)},
	{"sip", TCP_UDP, PORT(5060)},
	{"sips", TCP, PORT(5061)},
	{"smb", TCP, PORT(445)},
	{"smtp", TCP, PORT(25)},
	{"smtps", TCP, PORT(465)},
	{"snmp", UDP, PORT(161)},
	{"snmp-trap", UDP, PORT(162)},
	{"squid", TCP, PORT(3128)},
	{"ssh", TCP, PORT(22)},
	{"submission", TCP, PORT(587)},
	{"syslog", UDP, PORT(514)},
	{"syslog-tls", TCP, PORT(6514)},
	{"tacacs", TCP, PORT(49)},
	{"telnet", TCP, PORT(23)},
	{"tftp", UDP, PORT(69)},
	{"vnc", TCP, {{5900, 5999}}},
	{"vxlan", UDP, PORT(4789)},
	{"winrm", TCP, {{5985, 5986}}},
	{"wireguard", UDP, PORT(51820)},
	{"xmpp", TCP, {{5222, 5222}, {5269, 5269}}},
	{"zabbix", TCP, {{10050, 10051}}},
	{"zookeeper", TCP, PORT(2181)},
};
const size_t shipped_service_count = ARRAY_SIZE(shipped_services);

struct shipped_service_text shipped_service_describe(const struct shipped_service *service)
{
	struct shipped_service_text result = {0};
	size_t size = 0;

	for (size_t i = 0; i < ARRAY_SIZE(service->protocols) && service->protocols[i]; i++)
		size += (size_t)snprintf(result.text + size, sizeof(result.text) - size, "%s%s",
					 i ? ", " : "",
					 service->protocols[i] == IPPROTO_TCP ? "tcp" : "udp");
	for (size_t i = 0; i < ARRAY_SIZE(service->ports) && service->ports[i].last; i++) {
		const struct range *range = &service->ports[i];

		size += (size_t)snprintf(result.text + size, sizeof(result.text) - size, "%s%u",
					 i ? ", " : " ", (unsigned int)range->first);
		if (range->last != range->first)
			size += (size_t)snprintf(result.text + size, sizeof(result.text) - size,
						 "-%u", (unsigned int)range->last);
	}
	return result;
}

const struct shipped_service *shipped_service_find(const char *name)
{
	for (size_t i = 0; i < shipped_service_count; i++)
		if (!strcmp(shipped_services[i].name, name))
			return &shipped_services[i];
	return NULL;
}
