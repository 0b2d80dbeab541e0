//! CPU per message as horizontal bars, one group per case. The scale is logarithmic: receivers lie tens of
//! times apart.

use plotters::prelude::*;

use super::Story;
use crate::receiver::{RECEIVERS, Receiver};
use crate::results::Run;
use stdio::CommandError;

const WIDTH: i32 = 900;
const LEFT: i32 = 220;
const RIGHT: i32 = 90;
const TOP: i32 = 70;
const BAR: i32 = 14;
const GAP: i32 = 12;
const FONT: &str = "sans-serif";

struct Bar {
    receiver: Receiver,
    cpu: f64,
    floors: Option<f64>,
}

fn colour(receiver: Receiver) -> RGBColor {
    match receiver {
        Receiver::Floor => RGBColor(160, 160, 160),
        Receiver::Penstock => RGBColor(20, 110, 180),
        Receiver::SyslogNg => RGBColor(220, 140, 40),
        Receiver::SyslogNgTuned => RGBColor(240, 190, 90),
        Receiver::Rsyslog => RGBColor(110, 160, 70),
    }
}

/// The whole chart as SVG.
pub fn text(story: &Story) -> Result<String, CommandError> {
    let groups: Vec<(&str, Vec<Bar>)> =
        story.cases.iter().map(|case| (case.name, bars(story, case.name))).collect();
    let rows: i32 = groups.iter().map(|(_, bars)| bars.len() as i32 * BAR + GAP).sum();
    let height = TOP + rows + 40;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH as u32, height as u32)).into_drawing_area();
        draw(&area, &groups, &story.machine).map_err(|e| format!("cannot draw the chart: {e}"))?;
    }
    Ok(svg)
}

fn bars(story: &Story, case: &str) -> Vec<Bar> {
    let bar = |receiver| {
        let cpu = story.results.median(case, receiver, Run::cpu_us)?;
        (cpu > 0.0).then(|| Bar { receiver, cpu, floors: story.results.times_floor(case, receiver) })
    };
    RECEIVERS.into_iter().filter_map(bar).collect()
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Failed<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

fn draw<'a>(area: &Area<'a>, groups: &[(&str, Vec<Bar>)], machine: &str) -> Result<(), Failed<'a>> {
    area.fill(&WHITE)?;
    let say = |text: String, x: i32, y: i32, size: i32| {
        area.draw(&Text::new(text, (x, y), (FONT, size).into_font().color(&BLACK)))
    };
    say("CPU per message (microseconds, logarithmic)".into(), 10, 8, 18)?;
    say(machine.to_owned(), 10, 30, 12)?;
    for (index, receiver) in RECEIVERS.into_iter().enumerate() {
        let x = LEFT + index as i32 * 120;
        area.draw(&Rectangle::new([(x, 48), (x + 12, 60)], colour(receiver).filled()))?;
        say(receiver.to_string(), x + 16, 48, 12)?;
    }
    let values = groups.iter().flat_map(|(_, bars)| bars.iter().map(|bar| bar.cpu));
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), cpu| (low.min(cpu), high.max(cpu)));
    // Half the smallest value is the chart's left edge, so that no bar has no length.
    let (low, high) = (low / 2.0, (high / low * 2.0).max(2.0));
    let mut y = TOP;
    for (case, bars) in groups {
        say((*case).to_owned(), 10, y, 13)?;
        for bar in bars {
            let length = (bar.cpu / low).ln() / high.ln() * f64::from(WIDTH - LEFT - RIGHT);
            let end = LEFT + length as i32;
            area.draw(&Rectangle::new([(LEFT, y), (end, y + BAR - 2)], colour(bar.receiver).filled()))?;
            let floors = bar.floors.map_or(String::new(), |floors| format!(" ({floors:.1}x)"));
            say(format!("{:.2}{floors}", bar.cpu), end + 4, y, 11)?;
            y += BAR;
        }
        y += GAP;
    }
    area.present()
}
