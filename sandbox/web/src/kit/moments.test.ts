import assert from "node:assert/strict";
import { test } from "node:test";
import { clock, day, slackDate } from "./moments";

const NOW = new Date("2026-12-01T09:30:00Z");
const seconds = (at: string) => String(Date.parse(at) / 1000);

test("a moment is told in the zone of who looks", () => {
  assert.equal(clock(NOW, "Asia/Shanghai"), "17:30");
  assert.equal(clock(NOW, "Etc/UTC"), "09:30");
});

test("a zone that is not known does no harm", () => {
  assert.match(clock(NOW, "Mars/Olympus"), /^\d\d:\d\d$/);
});

test("a day is today or yesterday where it is so in the zone", () => {
  const late = new Date("2026-11-30T23:30:00Z");
  assert.equal(day(late, NOW, "Etc/UTC"), "Yesterday");
  assert.equal(day(late, NOW, "Europe/Berlin"), "Today");
  assert.equal(day(new Date("2026-11-02T12:00:00Z"), NOW, "Etc/UTC"), "Monday, 2 November 2026");
});

test("Slack's dates are told by their format, and with a word not known not at all", () => {
  const at = seconds("2026-12-01T07:05:09Z");
  const told = (format: string) => slackDate(at, format, NOW, "Etc/UTC");
  assert.equal(told("{date_short_pretty} at {time}"), "today at 07:05");
  assert.equal(told("{date_num} {time_secs}"), "01/12/2026 07:05:09");
  assert.equal(told("{ago}"), null);
  assert.equal(slackDate("soon", "{time}", NOW, "Etc/UTC"), null);
});
