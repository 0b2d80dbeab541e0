//! Templates: `%HOSTNAME%` and its options, strings and lists, those that rsyslog brings along.

use super::NoCounterpart;
use super::reader::{Params, Reader};
use super::written::MESSAGE;
use conf_syntax::quoted;
use std::collections::BTreeMap;

/// A template of rsyslog as one of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub text: String,
    /// Records of RFC 5424, which have a form of their own.
    pub is_protocol: bool,
}

#[derive(Default)]
pub struct Templates {
    own: BTreeMap<String, Result<String, NoCounterpart>>,
}

impl Templates {
    pub fn add(&mut self, name: &str, made: Result<String, NoCounterpart>) {
        self.own.insert(name.to_lowercase(), made);
    }

    /// A template by its name. The error is why there is none.
    pub fn named(&self, name: &str) -> Result<Made, NoCounterpart> {
        let plain = |text: &str| Ok(Made { text: text.to_owned(), is_protocol: false });
        if let Some(own) = self.own.get(&name.to_lowercase()) {
            return own.clone().map(|text| Made { text, is_protocol: false });
        }
        match name.to_lowercase().as_str() {
            "rsyslog_traditionalfileformat" | "rsyslog_sysklogdfileformat" => {
                plain("$DATE $HOST ${MSGHDR}${MESSAGE}\n")
            }
            "rsyslog_fileformat" => plain("$ISODATE $HOST ${MSGHDR}${MESSAGE}\n"),
            "rsyslog_traditionalforwardformat" => plain("<${PRI}>$DATE $HOST ${MSGHDR}${MESSAGE}"),
            "rsyslog_forwardformat" => plain("<${PRI}>$ISODATE $HOST ${MSGHDR}${MESSAGE}"),
            "rsyslog_syslogprotocol23format" => Ok(Made { text: String::new(), is_protocol: true }),
            "rsyslog_debugformat" => Err("the debug format is rsyslog's own".into()),
            _ => Err(format!("there is no template `{name}`").into()),
        }
    }
}

/// `"%timegenerated% %HOSTNAME% %msg%\n"`
pub fn string(text: &str) -> Result<String, NoCounterpart> {
    let mut parts = Parts::default();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('%') {
        parts.constant(before);
        let (inside, after) = behind.split_once('%').ok_or("a `%` without its end")?;
        rest = after;
        if inside.is_empty() {
            parts.constant("%");
            continue;
        }
        let mut fields = inside.splitn(4, ':');
        let name = fields.next().unwrap_or_default();
        let (from, to) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        let options = fields.next().unwrap_or_default();
        // One number alone is how many characters there are.
        let (from, to) = if to.is_empty() && !from.is_empty() { ("1", from) } else { (from, to) };
        parts.property(name, name, (from, to), options)?;
    }
    parts.constant(rest);
    Ok(parts.out)
}

/// `{ constant(value="...") property(name="msg") }`
pub fn list(body: &str) -> Result<String, NoCounterpart> {
    let mut reader = Reader::new(body);
    let mut parts = Parts::default();
    loop {
        reader.space();
        if reader.rest().is_empty() {
            return Ok(parts.out);
        }
        let word = reader.word().to_lowercase();
        let params = reader.params().ok_or_else(|| format!("`{word}` is not understood"))?;
        match word.as_str() {
            "constant" => {
                reject(&params, &["value"])?;
                parts.constant(params.text("value").unwrap_or_default());
            }
            "property" => {
                let known = [
                    "name",
                    "dateformat",
                    "caseconversion",
                    "position.from",
                    "position.to",
                    "spifno1stsp",
                    "droplastlf",
                    "securepath",
                    "controlcharacters",
                    "format",
                    "outname",
                    "date.inutc",
                ];
                reject(&params, &known)?;
                let date = params.text("dateformat").map(|format| format!("date-{format}"));
                let case = params.text("caseconversion").map(|case| format!("{case}case"));
                let flag =
                    |name: &str, option: &str| params.is_on(name).filter(|on| *on).map(|_| option.to_owned());
                let path = params.text("securepath").map(|how| format!("secpath-{how}"));
                let control = params.text("controlcharacters").map(|how| format!("{how}-cc"));
                let options = [
                    date,
                    case,
                    path,
                    control,
                    flag("spifno1stsp", "sp-if-no-1st-sp"),
                    flag("droplastlf", "drop-last-lf"),
                    flag("date.inutc", "date-utc"),
                    params.text("format").map(str::to_owned),
                ];
                let options: Vec<String> = options.into_iter().flatten().collect();
                let from = params.text("position.from").unwrap_or_default();
                let to = params.text("position.to").unwrap_or_default();
                let name = params.text("name").unwrap_or_default();
                let called = params.text("outname").unwrap_or(name);
                parts.property(name, called, (from, to), &options.join(","))?;
            }
            other => return Err(format!("`{other}` in a list").into()),
        }
    }
}

fn reject(params: &Params, known: &[&str]) -> Result<(), NoCounterpart> {
    match params.names().find(|name| !known.contains(name)) {
        Some(unknown) => Err(format!("`{unknown}` of a part of a list").into()),
        None => Ok(()),
    }
}

#[derive(Default)]
struct Parts {
    out: String,
    /// The tag was written; the message with it makes the header that we have as one.
    is_behind_tag: bool,
}

/// The name of a program with its number, as a header has it.
const TAG: &str = "${PROGRAM}$(if (\"${PID}\" ne \"\") \"[${PID}]\" \"\"):";

/// The name of a program up to its first slash.
const NAME: &str = "$(list-head $(explode / ${PROGRAM}))";

/// A text as the argument of a function.
fn argument(text: &str) -> String {
    if text.starts_with(' ') { quoted(text) } else { text.to_owned() }
}

impl Parts {
    fn constant(&mut self, text: &str) {
        if !text.is_empty() {
            self.tag_alone();
            self.out.push_str(&text.replace('$', "$$"));
        }
    }

    /// A tag that no message follows.
    fn tag_alone(&mut self) {
        if std::mem::take(&mut self.is_behind_tag) {
            self.out.push_str(TAG);
        }
    }

    /// `called` is its name in JSON.
    fn property(
        &mut self,
        name: &str,
        called: &str,
        (from, to): (&str, &str),
        options: &str,
    ) -> Result<(), NoCounterpart> {
        let name = name.to_lowercase();
        let options: Vec<String> = options
            .split(',')
            .map(|option| option.trim().to_lowercase())
            .filter(|option| !option.is_empty())
            .collect();
        let has = |option: &str| options.iter().any(|known| known == option);
        if name == "msg" && has("sp-if-no-1st-sp") {
            // The space in front of a message is told with it.
            return Ok(());
        }
        if name == "syslogtag"
            && (from.is_empty() && to.is_empty() || from == "1" && to == "32")
            && options.is_empty()
        {
            self.tag_alone();
            self.is_behind_tag = true;
            return Ok(());
        }
        let is_as_it_is = options.iter().all(|option| option == "drop-last-lf");
        let is_whole_message = name == "msg" && from.is_empty() && to.is_empty() && is_as_it_is;
        let mut text = match (std::mem::take(&mut self.is_behind_tag), is_whole_message) {
            (true, true) => "${MSGHDR}${MESSAGE}".to_owned(),
            (true, false) => {
                self.out.push_str(TAG);
                macro_of(&name, &options)?
            }
            _ if name == "msg" && from == "2" && matches!(to, "" | "$") => "${MESSAGE}".to_owned(),
            _ => macro_of(&name, &options)?,
        };
        let is_cut = !from.is_empty() || !to.is_empty();
        if is_cut && !(name == "msg" && from == "2" && matches!(to, "" | "$")) {
            text = cut(&text, &name, from, to)?;
        }
        // What is written last is told first or last.
        let (forms, options): (Vec<_>, Vec<_>) =
            options.iter().partition(|option| matches!(option.as_str(), "json" | "jsonf"));
        for option in options.into_iter().chain(forms) {
            text = match option.as_str() {
                "json" => in_json(&format!("x=string({text})"), 6, 2),
                "jsonf" => in_json(&format!("{}=string({text})", json_name(called)?), 1, 1),
                "secpath-drop" => format!("$(implode '' $(explode / {}))", argument(&text)),
                "lowercase" => format!("$(lowercase {})", argument(&text)),
                "uppercase" => format!("$(uppercase {})", argument(&text)),
                "drop-last-lf" | "sp-if-no-1st-sp" | "date-local" => text,
                "secpath-replace" => format!("$(sanitize {})", argument(&text)),
                option if option.starts_with("date-") => text,
                other => return Err(format!("the option `{other}` of %{name}%").into()),
            };
        }
        self.out.push_str(&text);
        Ok(())
    }
}

/// A pair as a part of an object of JSON, without so many characters of the object on its sides.
fn in_json(pair: &str, before: usize, behind: usize) -> String {
    format!("$(substr $(format-flat-json {pair}) {before} -{behind})")
}

/// A name that stands in a pair as it is.
fn json_name(name: &str) -> Result<&str, NoCounterpart> {
    let is_plain = !name.is_empty() && !name.starts_with(['-', '.']);
    match is_plain && name.chars().all(|c| c.is_ascii_alphanumeric() || "@_-.".contains(c)) {
        true => Ok(name),
        false => Err(format!("the name `{name}` in JSON").into()),
    }
}

/// Characters from one place to another, from 1.
fn cut(text: &str, name: &str, from: &str, to: &str) -> Result<String, NoCounterpart> {
    let why = || format!("characters {from} to {to} of %{name}%");
    let begin: usize = if from.is_empty() { 1 } else { from.parse().map_err(|_| why())? };
    let start = begin.saturating_sub(1);
    if to.is_empty() || to == "$" {
        return Ok(format!("$(substr {} {start})", argument(text)));
    }
    let end: usize = to.parse().map_err(|_| why())?;
    Ok(format!("$(substr {} {start} {})", argument(text), end.saturating_sub(start)))
}

/// What a property is here.
fn macro_of(name: &str, options: &[String]) -> Result<String, NoCounterpart> {
    let date = |own: &str| dated(own, options);
    Ok(match name {
        "timestamp" | "timereported" => return date("S_"),
        "timegenerated" => return date("R_"),
        "hostname" | "source" => "${HOST}",
        "fromhost" => "${HOST_FROM}",
        "fromhost-ip" => "${SOURCEIP}",
        // To rsyslog the name of `postfix/smtpd[3]` is postfix.
        "programname" | "app-name" => NAME,
        "syslogtag" => TAG,
        "procid" => "$(if (\"${PID}\" ne \"\") \"${PID}\" \"-\")",
        "msgid" => "$(if (\"${MSGID}\" ne \"\") \"${MSGID}\" \"-\")",
        "structured-data" => "$(if (\"${SDATA}\" ne \"\") \"${SDATA}\" \"-\")",
        "pri" => "${PRI}",
        "pri-text" => "${FACILITY}.${LEVEL}",
        "syslogfacility" => "${FACILITY_NUM}",
        "syslogfacility-text" => "${FACILITY}",
        "syslogseverity" | "syslogpriority" => "${LEVEL_NUM}",
        "syslogseverity-text" | "syslogpriority-text" => "${LEVEL}",
        "rawmsg" => "${RAWMSG}",
        "msg" => MESSAGE,
        "$now" => "${C_YEAR}-${C_MONTH}-${C_DAY}",
        "$year" => "${C_YEAR}",
        "$month" => "${C_MONTH}",
        "$day" => "${C_DAY}",
        "$hour" => "${C_HOUR}",
        "$minute" => "${C_MIN}",
        "$myhostname" => "${LOGHOST}",
        other => return Err(format!("the property %{other}%").into()),
    }
    .to_owned())
}

fn dated(which: &str, options: &[String]) -> Result<String, NoCounterpart> {
    let is_utc = options.iter().any(|option| option == "date-utc");
    let mut formats = options.iter().filter_map(|option| option.strip_prefix("date-"));
    let format = formats.find(|format| !["utc", "local"].contains(format));
    if is_utc {
        return in_utc(which, format);
    }
    let [year, month, day, hour, minute, second] =
        ["YEAR", "MONTH", "DAY", "HOUR", "MIN", "SEC"].map(|part| format!("${{{which}{part}}}"));
    let name = match format {
        None | Some("rfc3164") => "DATE",
        Some("rfc3339") => "ISODATE",
        Some("unixtimestamp") => "UNIXTIME",
        Some("year") => "YEAR",
        Some("month") => "MONTH",
        Some("day") => "DAY",
        Some("hour") => "HOUR",
        Some("minute") => "MIN",
        Some("second") => "SEC",
        Some("wdayname") => "WEEKDAY",
        Some("mysql") => return Ok([year, month, day, hour, minute, second].concat()),
        Some("pgsql") => return Ok(format!("{year}-{month}-{day} {hour}:{minute}:{second}")),
        Some(other) => return Err(format!("the date format `{other}`").into()),
    };
    Ok(format!("${{{which}{name}}}"))
}

/// The same in UTC.
fn in_utc(which: &str, format: Option<&str>) -> Result<String, NoCounterpart> {
    let pattern = match format {
        None | Some("rfc3164") => "%b %e %H:%M:%S",
        Some("rfc3339") => "%Y-%m-%dT%H:%M:%S+00:00",
        Some("unixtimestamp") => return Ok(format!("${{{which}UNIXTIME}}")),
        Some("mysql") => "%Y%m%d%H%M%S",
        Some("pgsql") => "%Y-%m-%d %H:%M:%S",
        Some("year") => "%Y",
        Some("month") => "%m",
        Some("day") => "%d",
        Some("hour") => "%H",
        Some("minute") => "%M",
        Some("second") => "%S",
        Some(other) => return Err(format!("the date format `{other}` in UTC").into()),
    };
    Ok(format!("$(format-date --time-zone UTC '{pattern}' ${{{which}UNIXTIME}})"))
}

#[cfg(test)]
mod tests {
    use super::{list, string};

    #[test]
    fn strings_and_lists_say_the_same() {
        for (text, expected) in [
            (
                "%TIMESTAMP% %HOSTNAME% %syslogtag%%msg:::sp-if-no-1st-sp%%msg:::drop-last-lf%\n",
                "${S_DATE} ${HOST} ${MSGHDR}${MESSAGE}\n",
            ),
            ("%msg%\n", "$(template t_msg)\n"),
            ("%msg:2:$%\n", "${MESSAGE}\n"),
            (
                "%syslogtag%%msg:::json%",
                "${PROGRAM}$(if (\"${PID}\" ne \"\") \"[${PID}]\" \"\"):\
                 $(substr $(format-flat-json x=string($(template t_msg))) 6 -2)",
            ),
            ("%syslogtag% x", "${PROGRAM}$(if (\"${PID}\" ne \"\") \"[${PID}]\" \"\"): x"),
            ("100%% $5 %timegenerated:::date-rfc3339%", "100% $$5 ${R_ISODATE}"),
            (
                "/var/log/%fromhost-ip%/%programname:::lowercase%.log",
                "/var/log/${SOURCEIP}/$(lowercase $(list-head $(explode / ${PROGRAM}))).log",
            ),
            ("%hostname:1:3%", "$(substr ${HOST} 0 3)"),
            ("%hostname:3:%", "$(substr ${HOST} 0 3)"),
            ("%msg:::json%", "$(substr $(format-flat-json x=string($(template t_msg))) 6 -2)"),
            ("%HOSTNAME:::jsonf%", "$(substr $(format-flat-json HOSTNAME=string(${HOST})) 1 -1)"),
            (
                "%hostname:::json,uppercase%",
                "$(substr $(format-flat-json x=string($(uppercase ${HOST}))) 6 -2)",
            ),
            ("%timestamp:::date-pgsql%", "${S_YEAR}-${S_MONTH}-${S_DAY} ${S_HOUR}:${S_MIN}:${S_SEC}"),
            (
                "%timestamp:::date-rfc3339,date-utc%",
                "$(format-date --time-zone UTC '%Y-%m-%dT%H:%M:%S+00:00' ${S_UNIXTIME})",
            ),
            (
                "%programname:::secpath-drop%",
                "$(implode '' $(explode / $(list-head $(explode / ${PROGRAM}))))",
            ),
        ] {
            assert_eq!(string(text).as_deref(), Ok(expected), "{text}");
        }
        let of_list = "constant(value=\"<\") property(name=\"pri\") constant(value=\"> \")\n\
            property(name=\"timereported\" dateFormat=\"rfc3339\") constant(value=\"\\n\")";
        assert_eq!(list(of_list).as_deref(), Ok("<${PRI}> ${S_ISODATE}\n"));
        let of_json = "property(outname=\"@timestamp\" name=\"timereported\" dateFormat=\"rfc3339\" date.inUTC=\"on\" \
            format=\"jsonf\")";
        assert_eq!(
            list(of_json).as_deref(),
            Ok("$(substr $(format-flat-json @timestamp=string($(format-date --time-zone UTC \
                '%Y-%m-%dT%H:%M:%S+00:00' ${S_UNIXTIME}))) 1 -1)")
        );
        assert!(list("property(name=\"msg\" outname=\"a b\" format=\"jsonf\")").is_err());
        assert!(string("%nosuch%").is_err());
        assert!(string("%msg").is_err());
        assert!(string("%msg:R,ERE,1:x--end%").is_err());
        assert!(list("property(name=\"msg\" regex.expression=\"x\")").is_err());
    }
}
