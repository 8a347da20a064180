const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** The expression for `monday at 9`, `weekday at 9:30`, `day at 6pm`; undefined for anything else. */
export function findExpression(text: string): string | undefined {
  const [, word = '', hours = '', minutes = '0', half] = DAY_AND_TIME.exec(text) ?? [];
  const weekday = toWeekday(word.toLowerCase());
  const hour = toHour(Number(hours), half?.toLowerCase());
  if (word === '' || hour === undefined || Number(minutes) > 59) return undefined;
  return `${Number(minutes)} ${hour} * * ${weekday}`;
}

const DAY_AND_TIME =
  /^((?:sun|mon|tues|wednes|thurs|fri|satur)days?|sun|mon|tue|wed|thu|fri|sat|weekdays?|days?) (?:at )?(\d\d?)(?::(\d\d))? ?(am|pm)?$/i;

function toWeekday(word: string): string {
  if (word.startsWith('day')) return '*';
  return word.startsWith('weekday') ? '1-5' : String(DAYS.indexOf(word.slice(0, 3)));
}

function toHour(hours: number, half: string | undefined): number | undefined {
  if (half === undefined) return hours < 24 ? hours : undefined;
  if (hours < 1 || hours > 12) return undefined;
  return (hours % 12) + (half === 'pm' ? 12 : 0);
}
