import type { Stage } from './stage.ts';

/** What was measured once. `value` is held against the target; `figures` are the raw numbers behind it. */
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
}

/** One line of the table. */
export interface Row {
  name: string;
  what: string;
  /** What stands beside the product; where a value has nothing beside it, the machine's clock or memory. */
  anchor: string;
  /** `x`: product divided by anchor. */
  unit: 'x' | 'ms' | 's';
  /** Absent: reported, and held against nothing. */
  target?: Target;
  /** Figures that the table shows beside the value, each as the median of the rounds. */
  beside?: readonly Beside[];
  /** At most so many rounds, and none before them: for rows whose rounds start everything afresh. */
  maxRounds?: number;
  /** Starts what is needed on the stage, which is cleared afterwards, and answers how one round is measured. */
  open(stage: Stage): Promise<() => Promise<Round>>;
}

export interface RowResult extends Omit<Row, 'open' | 'maxRounds'> {
  /** The median of the rounds. */
  reached: number;
  lowest: number;
  highest: number;
  /** Absent without a target. */
  met?: boolean;
  rounds: Round[];
}

/** Measures a row; a round before the others is not counted, so that what is compiled late is compiled. */
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
    ...(row.target && { met: isMet(row.target, reached) }),
    rounds: counted,
  };
}

const isMet = (target: Target, reached: number): boolean =>
  'atLeast' in target ? reached >= target.atLeast : reached <= target.atMost;

/** The middle one; of an even number the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** A round that compares two rates or sizes; `beside`: what else is worth a figure. */
export function ratio(compared: { product: number; anchor: number }, beside: Record<string, number> = {}): Round {
  return { value: compared.product / compared.anchor, figures: { ...compared, ...beside } };
}
