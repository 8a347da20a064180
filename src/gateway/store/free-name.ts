import { existsSync } from 'node:fs';

/** The name itself or, when a file is there already, the first of `<name>-2`, `<name>-3` … that is free. */
export function freeName(name: string): string {
  let candidate = name;
  for (let n = 2; existsSync(candidate); n += 1) candidate = `${name}-${n}`;
  return candidate;
}
