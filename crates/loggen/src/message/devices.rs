//! What devices of many vendors send, each in the form its documentation shows: with and without headers that
//! a standard knows. Made for configurations that find out from a message who sent it.

use super::words::Random;
use super::{Message, Moment, Style};

/// In a line `B` between `$` signs stands for a BSD time, `Y` for one with a year, `I` for an ISO one with
/// its offset, `H` for the number of a host, `N` for that of the message, `A` for an address, `S` for what
/// `verify` reads and `P` for words up to the size.
const LINES: [&str; 40] = [
    "<166>$B$ gw$H$ : %ASA-6-302013: Built outbound TCP connection $N$ for outside:$A$/443 to inside:10.1.1.9/52100 $S$$P$",
    "<164>$Y$ gw$H$ : %ASA-4-106023: Deny tcp src outside:$A$/4431 dst inside:10.2.3.4/22 by access-group \"out\" $S$$P$",
    "<189>$N$: edge$H$: *$B$.123: %SYS-5-CONFIG_I: Configured from console by admin on vty0 ($A$) $S$$P$",
    "<187>$N$: $B$.118: %LINK-3-UPDOWN: Interface GigabitEthernet0/1, changed state to down $S$$P$",
    "<190>$N$: nx$H$: $Y$ UTC: %DAEMON-6-SYSTEM_MSG: session of $A$ closed $S$$P$",
    "<14>1 $I$ srx$H$ RT_FLOW - RT_FLOW_SESSION_CREATE [junos@2636.1.1.1.2.40 source-address=\"$A$\" source-port=\"52100\" destination-port=\"443\"] $S$$P$",
    "<14>$B$ srx$H$ RT_FLOW: RT_FLOW_SESSION_CLOSE: session closed TCP FIN: $A$/5011->10.0.0.9/80 junos-http $S$$P$",
    "<14>$B$ pa$H$ 1,2026/11/21 10:00:00,00130100$N$,TRAFFIC,end,2305,2026/11/21 10:00:00,$A$,10.0.0.9,0.0.0.0,0.0.0.0,allow-all,u1,,ssl,vsys1,in,out,ae1,ae2,fwd,,$N$,1,5011,443,0,0,0x1c,tcp,allow,9000,4000,5000,20,2026/11/21 09:59:00,60,any,,1,0x0,10.0.0.0-10.255.255.255,US,,10,10,aged-out $S$$P$",
    "<14>$B$ pa$H$ 1,2026/11/21 10:00:00,00130100$N$,THREAT,url,2305,2026/11/21 10:00:00,$A$,10.0.0.9,0.0.0.0,0.0.0.0,allow-all,u1,,web,vsys1,in,out,ae1,ae2,fwd,,$N$,1,5011,443,0,0,0x1c,tcp,alert,\"example.com/a\",(9999),news,informational,client-to-server $S$$P$",
    "<14>$B$ pa$H$ 1,2026/11/21 10:00:00,00130100$N$,SYSTEM,general,0,2026/11/21 10:00:00,,general,,0,0,general,informational,\"user u1 logged in from $A$\" $S$$P$",
    "<189>date=2026-11-21 time=10:00:00 devname=\"fg$H$\" devid=\"FG100$N$\" logid=\"0000000013\" type=\"traffic\" subtype=\"forward\" level=\"notice\" vd=\"root\" srcip=$A$ srcport=5011 dstip=10.0.0.9 action=\"close\" msg=\"$S$$P$\"",
    "<185>date=2026-11-21 time=10:00:00 devname=\"fg$H$\" devid=\"FG100$N$\" logid=\"0419016384\" type=\"utm\" subtype=\"ips\" level=\"alert\" vd=\"root\" srcip=$A$ dstip=10.0.0.9 attack=\"probe\" msg=\"$S$$P$\"",
    "<134>1 $I$ cp$H$ CheckPoint 5011 - [action:\"Accept\"; flags:\"411908\"; src:\"$A$\"; dst:\"10.0.0.9\"; proto:\"6\"; product:\"VPN-1 & FireWall-1\"; rule:\"$N$\"] $S$$P$",
    "<14>$B$ sensor$H$ CEF:0|Sentinel|Gate|7.1|100$N$|Intrusion found|8|src=$A$ dst=10.0.0.9 spt=5011 act=blocked cs1Label=Rule cs1=R$N$ msg=$S$$P$",
    "<14>$B$ vault$H$ CEF:0|Cyber|Vault|12.1|295|Retrieve password|5|act=Retrieve suser=u$N$ fname=root dvc=$A$ shost=$A$ reason=$S$$P$",
    "<13>$B$ nac$H$ LEEF:2.0|Guard|Nac|3.0|Event$N$|^|src=$A$^dst=10.0.0.9^sev=5^msg=$S$$P$",
    "<166>$I$ esx$H$ Hostd: info hostd[2100$N$] [Originator@6876 sub=Vimsvc.TaskManager opID=$N$] Task done for $A$ $S$$P$",
    "<166>1 $I$ esx$H$ vpxa 2100 - - Event [$N$] user logged in from $A$ $S$$P$",
    "<131>$B$ lb$H$ notice tmm1[1822]: Rule /Common/log <HTTP_REQUEST>: client $A$ uri /a/$N$ $S$$P$",
    "<134>$B$ asm$H$ ASM:unit_hostname=\"asm$H$\",management_ip_address=\"$A$\",policy_name=\"/Common/p\",violations=\"Illegal meta\",support_id=\"$N$\" $S$$P$",
    "<30>$B$ ns$H$ named[2101]: client @0x7f $A$#5011 (example.com): query: example.com IN A + (10.0.0.1) $S$$P$",
    "<30>$B$ dhcp$H$ dhcpd[2102]: DHCPACK on $A$ to 00:50:56:aa:bb:cc (pc$N$) via eth0 $S$$P$",
    "<86>$B$ web$H$ sshd[2103]: Accepted publickey for u$N$ from $A$ port 50111 ssh2 $S$$P$",
    "<85>$B$ web$H$ sudo:   u1 : TTY=pts/0 ; PWD=/root ; USER=root ; COMMAND=/bin/ls $A$ $S$$P$",
    "<78>$B$ web$H$ CRON[2104]: (root) CMD (/usr/bin/tool $N$) $S$$P$",
    "<6>$B$ fw$H$ kernel: [12345.678] IN=eth0 OUT= MAC=00:50:56 SRC=$A$ DST=10.0.0.9 LEN=40 PROTO=TCP SPT=5011 DPT=22 ID=$N$ $S$$P$",
    "<134>$B$ pf$H$ filterlog[2105]: 5,,,1000000103,igb0,match,block,in,4,0x0,,64,$N$,0,none,17,udp,76,$A$,10.0.0.9,5011,53,56 $S$$P$",
    "<22>$B$ mx$H$ postfix/smtpd[2106]: connect from unknown[$A$] id $N$ $S$$P$",
    "<14>$B$ proxy$H$ squid[2107]: 1795255200.123 90 $A$ TCP_MISS/200 5120 GET http://example.com/$N$ - DIRECT/10.0.0.9 text/html $S$$P$",
    "<14>$B$ dc$H$ MSWinEventLog\t1\tSecurity\t$N$\tSat Nov 21 10:00:00 2026\t4624\tMicrosoft-Windows-Security-Auditing\tu1\tN/A\tSuccess Audit\tdc$H$\tLogon\t\t$A$ $S$$P$",
    "<14>$B$ ap$H$ stm[2108]: <501100> <NOTI> AP:ap$H$ Assoc success @ 10:00:00: 00:50:56:aa:bb:cc: AP $A$ $S$$P$",
    "<29>$B$ filer$H$ [node-$H$:wafl.vol.full:notice]: Volume vol$N$ of $A$ is 98% full $S$$P$",
    "<14>$B$ {\"time\":\"2026-11-21T10:00:00Z\",\"kind\":\"web\",\"number\":$N$,\"client\":\"$A$\",\"action\":\"Allowed\",\"text\":\"$S$$P$\"}",
    "<14>1 $I$ app$H$ gate 77 login [meta@32473 user=\"u$N$\" from=\"$A$\"] $S$$P$",
    "<131>$B$ rtr$H$ TUNNEL[88]: peer $A$ lost after $N$ s $S$$P$",
    "<38>$B$ box$H$ agentd[99]: heartbeat $N$ of $A$ $S$$P$",
    "<14>$B$ wlc$H$ *spamApTask3: $B$.001: %CAPWAP-3-DECODE_ERR: capwap_ac_sm.c:1443 error $N$ of $A$ $S$$P$",
    "<181>$B$ ise$H$ CISE_Passed_Authentications 0000$N$ 1 0 2026-11-21 10:00:00.123 +00:00 0012 5200 NOTICE Passed-Authentication: Authentication succeeded, Device IP Address=$A$, $S$$P$",
    "<14>$B$ 10.9.8.7 device without a program $N$ at $A$ $S$$P$",
    "device without any header $N$ at $A$ $S$$P$",
];

/// Appends a whole line that ends with LF; it has `size` bytes if what it must hold is not longer.
pub(super) fn append(m: &mut Message, style: &Style, size: usize, index: usize, now: &Moment) {
    let mut random = Random::new(index as u64);
    let line = LINES[index % LINES.len()];
    let (front, end) = line.split_once("$P$").unwrap_or((line, ""));
    for (at, part) in front.split('$').enumerate() {
        if at % 2 == 0 {
            m.text(part);
            continue;
        }
        match part {
            "B" => m.text(&now.bsd),
            "Y" => {
                let (day, clock) = now.bsd.split_at_checked(6).unwrap_or((&now.bsd, ""));
                m.text(&format!("{day} {}{clock}", now.iso.get(..4).unwrap_or_default()));
            }
            "I" => m.text(&format!("{}.{:03}{}", now.iso, index % 1000, now.offset)),
            "H" => m.text(&format!("{:03}", index as u32 % style.hosts.max(1))),
            "N" => m.text(&index.to_string()),
            "A" => m.text(&format!("10.7.{}.{}", index % 200, index % 250)),
            _ if style.stamp => m.stamp(),
            _ => {}
        }
    }
    loop {
        let word = random.word();
        if m.bytes.len() + word.len() + end.len() + 2 > size {
            break;
        }
        m.text(word);
        m.text(" ");
    }
    while m.bytes.len() + end.len() + 1 < size {
        m.text("x");
    }
    m.text(end);
    m.text("\n");
}
