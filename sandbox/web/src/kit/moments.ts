// Moments in the time zone of who looks, in the forms that Slack's <!date> knows.
type Parts = Intl.DateTimeFormatOptions;

const TIME: Parts = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const FORMS: Record<string, Parts> = {
  date_num: { year: "numeric", month: "2-digit", day: "2-digit" },
  date: { year: "numeric", month: "long", day: "numeric" },
  date_short: { year: "numeric", month: "short", day: "numeric" },
  date_long: { weekday: "long", year: "numeric", month: "long", day: "numeric" },
  time: TIME,
  time_secs: { ...TIME, second: "2-digit" },
};
const DAY = 86_400_000;

export function formatted(at: Date, form: Parts, zone: string | undefined): string {
  return new Intl.DateTimeFormat("en-GB", { ...form, timeZone: safe(zone) }).format(at);
}

export const clock = (at: Date, zone: string | undefined): string => formatted(at, TIME, zone);

/** "Today", "Yesterday", or the day. */
export function day(at: Date, now: Date, zone: string | undefined): string {
  const name = (when: Date) => formatted(when, FORMS.date_long as Parts, zone);
  if (name(at) === name(now)) return "Today";
  if (name(at) === name(new Date(now.getTime() - DAY))) return "Yesterday";
  return name(at);
}

/** What `<!date^seconds^format|...>` shows; null where the format has a word that is not known. */
export function slackDate(
  seconds: string,
  format: string,
  now: Date,
  zone: string | undefined,
): string | null {
  const at = new Date(Number(seconds) * 1000);
  if (Number.isNaN(at.getTime())) return null;
  let unknown = false;
  const told = format.replace(/\{(\w+)\}/g, (_whole, word: string) => {
    const pretty = word.endsWith("_pretty");
    const form = FORMS[word.replace(/_pretty$/, "")];
    if (!form) unknown = true;
    const named = day(at, now, zone);
    if (pretty && (named === "Today" || named === "Yesterday")) return named.toLowerCase();
    return form ? formatted(at, form, zone) : "";
  });
  return unknown ? null : told;
}

/** The zone, or none where this browser does not know it. */
function safe(zone: string | undefined): string | undefined {
  if (!zone) return undefined;
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return zone;
  } catch {
    return undefined;
  }
}
