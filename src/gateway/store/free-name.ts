import { existsSync } from 'node:fs';

/** The name itself or, if the file exists, the first of `<name>-2`, `<name>-3` … that is free. */
export function freeName(name: string): string {
  let candidate = name;
  for (let n = 2; existsSync(candidate); n += 1) candidate = `${name}-${n}`;
  return candidate;
}
