/** The meaning of an expression, parsed independently of the product. */

export interface Meaning {
  isFixedTime: boolean;
  seconds: number[];
  minutes: Set<number>;
  hours: Set<number>;
  /** Whether a date matches; the month counts from 1. */
  hasDate(year: number, month: number, day: number): boolean;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

export function meaningOf(expr: string): Meaning {
  const fields = (NICKNAMES.get(expr) ?? expr).toLowerCase().split(' ');
  const [second = '', minute = '', hour = '', day = '', month = '', weekday = ''] =
    fields.length === 5 ? ['0', ...fields] : fields;
  const months = valuesOf(month, { least: 1, most: 12, names: MONTHS, namesFrom: 1 });
  const isEveryDay = day === '*' || day === '?';
  const isEveryWeekday = weekday === '*' || weekday === '?';
  return {
    isFixedTime: ![second, minute, hour].some((field) => /[*?/]/.test(field)),
    seconds: [...valuesOf(second, { least: 0, most: 59 })].sort((a, b) => a - b),
    minutes: valuesOf(minute, { least: 0, most: 59 }),
    hours: valuesOf(hour, { least: 0, most: 23 }),
    hasDate(year, monthOfYear, dayOfMonth) {
      if (!months.has(monthOfYear)) return false;
      const date = { year, month: monthOfYear, day: dayOfMonth };
      const inDay = () => day.split(',').some((item) => hasDay(item, date));
      const inWeekday = () => weekday.split(',').some((item) => hasWeekday(item, date));
      if (isEveryDay) return isEveryWeekday || inWeekday();
      return inDay() || (!isEveryWeekday && inWeekday());
    },
  };
}

const NICKNAMES = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

interface CalendarDate {
  year: number;
  month: number;
  day: number;
}

function hasDay(item: string, date: CalendarDate): boolean {
  const length = lengthOf(date);
  if (item === 'l') return date.day === length;
  if (item === 'lw') return date.day === weekdayNearest(length, date);
  if (item.endsWith('w')) return date.day === weekdayNearest(Number(item.slice(0, -1)), date);
  return valuesOf(item, { least: 1, most: 31 }).has(date.day);
}

/** The working day nearest to a day of that month, without leaving the month; 0 when it has no such day. */
function weekdayNearest(day: number, { year, month }: CalendarDate): number {
  const length = lengthOf({ year, month });
  const near = [0, -1, 1, -2, 2].map((step) => day + step);
  const isWorking = (some: number) => ![0, 6].includes(weekdayOf({ year, month, day: some }));
  return day > length ? 0 : (near.find((some) => some >= 1 && some <= length && isWorking(some)) ?? 0);
}

function hasWeekday(item: string, date: CalendarDate): boolean {
  const [, name = '', nth] = /^([a-z0-9]+?)(?:#(\d)|(l))$/.exec(item) ?? [];
  const read = (text: string) => valuesOf(text, { least: 0, most: 7, names: WEEKDAYS, namesFrom: 0 });
  const isNamed = (values: Set<number>) => values.has(weekdayOf(date)) || (values.has(7) && weekdayOf(date) === 0);
  if (name === '') return isNamed(read(item));
  if (!isNamed(read(name))) return false;
  return nth === undefined ? date.day + 7 > lengthOf(date) : Math.ceil(date.day / 7) === Number(nth);
}

function valuesOf(
  field: string,
  { least, most, names = [], namesFrom = 0 }: { least: number; most: number; names?: string[]; namesFrom?: number },
): Set<number> {
  const toNumber = (text: string) => (names.includes(text) ? names.indexOf(text) + namesFrom : Number(text));
  const values = new Set<number>();
  for (const item of field.split(',')) {
    const [range = '', step = '1'] = item.split('/');
    const [from = '', to = from] = range.split('-');
    const isAll = range === '*' || range === '?';
    const first = isAll ? least : toNumber(from);
    // A week that ends on Sunday ends on its seventh day.
    const last = isAll ? most : to === 'sun' && from !== 'sun' ? 7 : toNumber(to);
    for (let value = first; value <= last; value += Number(step)) values.add(value);
  }
  return values;
}

function lengthOf({ year, month }: { year: number; month: number }): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function weekdayOf({ year, month, day }: CalendarDate): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay();
}
