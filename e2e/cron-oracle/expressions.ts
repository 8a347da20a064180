/** The expressions to compare with the oracle: some chosen, the others random from a seed. */

const CHOSEN = [
  ...['@yearly', '@monthly', '@weekly', '@daily', '@hourly'],
  ...['* * * * *', '*/5 * * * *', '*/7 * * * *', '*/15 * * * *', '0 * * * *', '? 3 ? * ?', '*/30 */2 * * *'],
  ...['0 0 * * *', '30 0 * * *', '30 1 * * *', '0 2 * * *', '30 2 * * *', '0 3 * * *', '15 23 * * *', '45 23 L * *'],
  ...[
    '0,30 0-4 * * *',
    '5,55 2,14 * * *',
    '0 0-23 * * *',
    '0-59 2 * * *',
    '* 2 * * *',
    '*/15 2 * * *',
    '*/20 0-3 * * *',
  ],
  ...['30 2 29 2 *', '0 0 31 * *', '30 23 31 * *', '0 2 * 3,10 SUN', '30 1 * * SUNL', '0 1 LW * *', '0 12 15W * *'],
  ...[
    '0 9 * * 1-5',
    '0 9 * * MON-FRI/2',
    '0 0 1 * MON',
    '30 2 13 * FRI',
    '0 4 * * 7',
    '0 4 * * SAT-SUN',
    '0 6 * * FRI#2',
  ],
  ...['15 30 2 * * *', '0,30 30 1-3 * * *', '*/15 30 2 * * *', '59 59 23 * * *', '0 0 0 1W * *', '*/20 59 * * * *'],
];

/** `count` expressions, always the same for a seed; the chosen ones first. */
export function drawExpressions(count: number, seed: number): string[] {
  const draw = drawer(seed);
  const expressions = new Set(CHOSEN);
  while (expressions.size < count) expressions.add(drawExpression(draw));
  return [...expressions].slice(0, count);
}

/** A whole number below `below`. */
export type Draw = (below: number) => number;

/** Mulberry32. */
export function drawer(seed: number): Draw {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

function drawExpression(draw: Draw): string {
  const second = draw(5) === 0 ? `${pick(draw, [value(60), list(60), constant('*/20')])} ` : '';
  // Most changes are made between 23:00 and 04:00.
  const hour = pick(draw, [
    night,
    night,
    night,
    value(24),
    list(24),
    range(24),
    constant('*'),
    constant('*/3'),
    step(24),
  ]);
  const minute = pick(draw, [
    value(60),
    value(60),
    constant('0'),
    constant('30'),
    list(60),
    range(60),
    constant('*/15'),
    step(60),
  ]);
  return `${second}${minute} ${hour} ${drawDate(draw)}`;
}

function drawDate(draw: Draw): string {
  const every = constant('*');
  const month = pick(draw, [every, every, every, constant('3,4'), constant('MAR-NOV'), constant('*/2'), list(12, 1)]);
  const days = [value(31, 1), list(31, 1), range(31, 1), constant('*/2'), constant('1-31/3'), constant('L')];
  const nearest = [constant('LW'), (some: Draw) => `${some(31) + 1}W`, (some: Draw) => `${some(28) + 1},L`];
  const weekday = pick(draw, [
    value(8),
    list(7),
    range(7),
    constant('SUN'),
    constant('SUNL'),
    nth,
    constant('SAT,SUN'),
    constant('1-6/2'),
  ]);
  switch (draw(6)) {
    case 0:
      return `${pick(draw, [...days, ...nearest])} ${month} *`;
    case 1:
      return `* ${month} ${weekday}`;
    case 2:
      return `${pick(draw, days)} * ${weekday}`;
    default:
      return '* * *';
  }
}

function pick(draw: Draw, makers: readonly ((draw: Draw) => string)[]): string {
  return makers[draw(makers.length)]?.(draw) ?? '*';
}

function constant(text: string) {
  return () => text;
}

function night(draw: Draw): string {
  return ['23', '0', '0', '1', '1', '2', '2', '3', '3', '4', '0,23', '1,2,3', '0-3'][draw(13)] ?? '2';
}

function value(count: number, least = 0) {
  return (draw: Draw) => String(draw(count) + least);
}

function list(count: number, least = 0) {
  return (draw: Draw) => Array.from({ length: 2 + draw(2) }, () => draw(count) + least).join(',');
}

function range(count: number, least = 0) {
  return (draw: Draw) => {
    const from = draw(count - 3);
    return `${from + least}-${from + least + 1 + draw(Math.min(3, count - from - 1))}`;
  };
}

function step(count: number) {
  return (draw: Draw) => {
    const from = draw(Math.floor(count / 2));
    return `${from}-${from + Math.floor(count / 2) - 1}/${2 + draw(5)}`;
  };
}

function nth(draw: Draw): string {
  return `${draw(7)}#${1 + draw(5)}`;
}
