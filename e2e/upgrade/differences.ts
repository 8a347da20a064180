import { isDeepStrictEqual } from 'node:util';

/** One value that differs between the two answers. */
export interface Difference {
  /** The question, then the path to the value in its answer. */
  at: readonly string[];
  was: unknown;
  is: unknown;
}

/** One kind of intended difference, with the reason. */
export interface Declared {
  /** The steps of the path, joined by ` > `. `*` matches any text within a step, `**` any number of steps. */
  at: string;
  /** Absent: the value is new. A function judges the value. */
  was?: unknown;
  /** Absent: the value is gone. A function judges the value. */
  is?: unknown;
  why: string;
}

/** Returns every value that differs. Objects, and lists of the same length, are compared part by part. */
export function differencesOf(was: unknown, is: unknown, at: readonly string[] = []): Difference[] {
  const [before, after] = [partsOf(was), partsOf(is)];
  if (!before || !after || (Array.isArray(was) && before.size !== after.size))
    return isDeepStrictEqual(was, is) ? [] : [{ at, was, is }];
  const steps = new Set([...before.keys(), ...after.keys()]);
  return [...steps].flatMap((step) => differencesOf(before.get(step), after.get(step), [...at, step]));
}

function partsOf(value: unknown): Map<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : undefined;
}

/** Compares differences with the declared ones: returns undeclared differences, and declarations that matched nothing. */
export function judge(differences: readonly Difference[], declared: readonly Declared[]) {
  const covers = new Map(declared.map((one) => [one, differences.filter((difference) => isCovered(difference, one))]));
  const covered = new Set([...covers.values()].flat());
  return {
    undeclared: differences.filter((difference) => !covered.has(difference)),
    notFound: declared.filter((one) => covers.get(one)?.length === 0).map(({ at, why }) => `${at}: ${why}`),
  };
}

function isCovered({ at, was, is }: Difference, declared: Declared): boolean {
  const hasValue = (value: unknown, wanted: unknown) =>
    typeof wanted === 'function' ? wanted(value) === true : isDeepStrictEqual(value, wanted);
  return matches(at, declared.at.split(' > ')) && hasValue(was, declared.was) && hasValue(is, declared.is);
}

function matches([step, ...steps]: readonly string[], [pattern, ...patterns]: readonly string[]): boolean {
  if (pattern === undefined) return step === undefined;
  if (pattern === '**')
    return (
      matches([step, ...steps].filter(isStep), patterns) || (step !== undefined && matches(steps, ['**', ...patterns]))
    );
  return step !== undefined && isLike(step, pattern) && matches(steps, patterns);
}

const isStep = (step: string | undefined): step is string => step !== undefined;

function isLike(step: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return step === pattern;
  return (
    rest.length === 0 && step.length >= first.length + last.length && step.startsWith(first) && step.endsWith(last)
  );
}
