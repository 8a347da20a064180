import type { Stage } from './stage.ts';

/** One measurement. `value` is compared with the target; `figures` are the raw numbers. */
export interface Round {
  value: number;
  figures: Record<string, number>;
}

export type Target = { atLeast: number } | { atMost: number };

export interface Beside {
  /** Of `Round.figures`. */
  figure: string;
  label: string;
  unit: 'ms';
  /** Absent: the figure is only reported. */
  target?: Target;
}

/** One line of the table. */
export interface Row {
  name: string;
  what: string;
  /** What the product is compared with; `the clock` if it is compared with nothing. */
  anchor: string;
  /** `x`: product divided by anchor. */
  unit: 'x' | 'ms' | 's';
  /** Absent: the value is only reported. */
  target?: Target;
  /** Figures that the table shows in addition to the value, each as the median of the rounds. */
  beside?: readonly Beside[];
  /** The maximum number of rounds, without an uncounted first one: for rows that start everything again in each round. */
  maxRounds?: number;
  /** Starts what the row needs on the stage, and returns a function that measures one round. */
  open(stage: Stage): Promise<() => Promise<Round>>;
}

export interface RowResult extends Omit<Row, 'open' | 'maxRounds'> {
  /** The median of the rounds. */
  reached: number;
  lowest: number;
  highest: number;
  /** Whether the value and the figures beside it reach their aims. Absent if there is no aim. */
  met?: boolean;
  rounds: Round[];
}

/** Measures a row. A first round is not counted, so that late compilation does not matter. */
export async function measure(row: Row, stage: Stage, rounds: number): Promise<RowResult> {
  const { open, maxRounds, ...said } = row;
  const round = await open(stage);
  if (maxRounds === undefined) await round();
  const counted: Round[] = [];
  while (counted.length < Math.min(rounds, maxRounds ?? rounds)) counted.push(await round());
  const values = counted.map(({ value }) => value);
  const reached = median(values);
  return {
    ...said,
    reached,
    lowest: Math.min(...values),
    highest: Math.max(...values),
    ...(row.target && { met: isMet(row.target, reached) && areMet(row.beside, counted) }),
    rounds: counted,
  };
}

/** A row of two builds. */
export interface Comparison extends Pick<Row, 'name' | 'what' | 'unit'> {
  /** The medians of the rounds. */
  now: number;
  before: number;
  /** The median of `now / before` in each pair of rounds. */
  change: number;
  lowest: number;
  highest: number;
}

/** Measures a row with two builds in alternating rounds, so that changes of the machine's speed affect both. */
export async function compare(row: Row, stages: { now: Stage; before: Stage }, rounds: number): Promise<Comparison> {
  const { open, maxRounds, name, what, unit } = row;
  const [now, before] = [await open(stages.now), await open(stages.before)];
  const pairs: [number, number][] = [];
  const warmUps = maxRounds === undefined ? 1 : 0;
  for (let done = 0; done < warmUps + Math.min(rounds, maxRounds ?? rounds); done += 1) {
    const isSwapped = done % 2 === 1; // neither build is always the first
    const [first, second] = isSwapped ? [before, now] : [now, before];
    const pair: [number, number] = [(await first()).value, (await second()).value];
    if (isSwapped) pair.reverse();
    if (done >= warmUps) pairs.push(pair);
  }
  const changes = pairs.map(([value, earlier]) => value / earlier);
  return {
    name,
    what,
    unit,
    now: median(pairs.map(([value]) => value)),
    before: median(pairs.map(([, earlier]) => earlier)),
    change: median(changes),
    lowest: Math.min(...changes),
    highest: Math.max(...changes),
  };
}

const isMet = (target: Target, reached: number): boolean =>
  'atLeast' in target ? reached >= target.atLeast : reached <= target.atMost;

const areMet = (beside: readonly Beside[] = [], rounds: readonly Round[]): boolean =>
  beside.every(({ figure, target }) => !target || isMet(target, medianOf(rounds, figure)));

/** The median of a figure. */
export const medianOf = (rounds: readonly Round[], figure: string): number =>
  median(rounds.map(({ figures }) => figures[figure] ?? Number.NaN));

/** The middle value, or the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** A round that compares two rates or sizes; `beside`: further figures. */
export function ratio(compared: { product: number; anchor: number }, beside: Record<string, number> = {}): Round {
  return { value: compared.product / compared.anchor, figures: { ...compared, ...beside } };
}
