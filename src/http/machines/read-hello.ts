import type { Hello } from '../../gateway/auth/machines/greeting.ts';

const LONGEST = 200;

/** The fields of a greeting, between semicolons. */
export const writeHello = ({ from, to, once, signature }: Hello): string => [from, to, once, signature].join(';');

/** Undefined for another text. */
export function readHello(value: string | string[] | undefined): Hello | undefined {
  const [from, to, once, signature, more] = typeof value === 'string' ? value.split(';') : [];
  if (!from || !to || !once || !signature || more !== undefined) return undefined;
  return [from, to, once, signature].some(({ length }) => length > LONGEST) ? undefined : { from, to, once, signature };
}
