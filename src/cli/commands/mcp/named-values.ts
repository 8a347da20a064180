import type { Surroundings } from '../../../home/home-path.ts';
import { UsageError } from '../../../start-error.ts';

/**
 * `NAME=VALUE` or `NAME: VALUE`, as often as given. A name alone stands for the variable of this shell, so that a secret
 * need not be typed into a command line, which others on the machine can read.
 */
export function readPairs(
  flag: string,
  pairs: readonly string[] | undefined,
  { environment }: Pick<Surroundings, 'environment'>,
): Record<string, string> | undefined {
  if (pairs === undefined) return undefined;
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name = '', sign, value = ''] = /^([^=:\s]+)(?:(=|:)([\s\S]*))?$/.exec(pair) ?? [];
      if (name === '') throw new UsageError(`${flag} takes NAME=VALUE, or the NAME of a variable of this shell.`);
      if (sign !== undefined) return [name, sign === ':' ? value.trimStart() : value];
      const found = environment[name];
      if (found === undefined) throw new UsageError(`${flag} ${name}: this shell has no such variable.`);
      return [name, found];
    }),
  );
}
