import type { FoundSecret } from './spans.ts';
import { StartFinder } from './start-finder.ts';

/** Finds secrets of one kind. */
export interface SecretRule {
  /** One of these begins every match of the pattern. The case of letters does not count. */
  starts: readonly string[];
  /** A quick look at the place. */
  canBegin?(text: string, at: number): boolean;
  /** Sticky. */
  pattern: RegExp;
  /** The secret in a match. `isEnd`: no more text follows. */
  read(text: string, match: RegExpExecArray, isEnd: boolean): FoundSecret | undefined;
  /** Up to where nothing else is looked for after a match. Default: its end. */
  skipsTo?(text: string, match: RegExpExecArray): number;
  /** Rules of a family find no secrets within a match of another one. */
  family?: string;
}

/** A search for the secrets of all rules in one pass. */
export function createSearch(
  rules: readonly SecretRule[],
): (text: string, from: number, isEnd: boolean) => FoundSecret[] {
  const names = rules.map(({ family }, index) => family ?? `${index}`);
  const families = [...new Set(names)];
  const starts = new StartFinder(
    rules.flatMap((rule, index) => {
      const family = families.indexOf(names[index] ?? '');
      return rule.starts.map((start) => [start, { rule, family }] as const);
    }),
    { ignoresCase: true },
  );
  return (text, from, isEnd) => {
    const found: FoundSecret[] = [];
    const next = new Uint32Array(families.length).fill(from);
    starts.each(text, from, (at, { rule, family }) => {
      if (at < (next[family] ?? 0)) return;
      const match = matchAt(rule, text, at);
      if (match === undefined) return;
      next[family] = endOf(rule, text, match);
      const secret = rule.read(text, match, isEnd);
      if (secret) put(found, secret, rule);
    });
    return found;
  };
}

const endOf = ({ skipsTo }: SecretRule, text: string, match: RegExpExecArray): number =>
  Math.max(match.index + Math.max(1, match[0].length), skipsTo?.(text, match) ?? 0);

/** What looks like a secret says more about it than its name. */
function put(found: FoundSecret[], secret: FoundSecret, { family }: SecretRule): void {
  if (family === undefined) found.push(secret);
  else found.unshift(secret);
}

function matchAt({ canBegin, pattern }: SecretRule, text: string, at: number): RegExpExecArray | undefined {
  if (canBegin?.(text, at) === false) return undefined;
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}
