import { z } from 'zod';
import type { Hello } from '../../gateway/auth/machines/greeting.ts';
import type { MachineSessions } from '../../gateway/auth/machines/machine-sessions.ts';
import { type Answer, json } from '../exchange.ts';

/** Answers the header of a greeting. */
export async function greet(value: string | string[] | undefined, machines: MachineSessions): Promise<Answer> {
  const hello = readHello(value);
  const welcome = hello && (await machines.greet(hello));
  return welcome === undefined ? STRANGER : json(200, welcome);
}

const text = z.string().min(1).max(200);
const HelloFields = z.tuple([text, text, text, text]);

/** The fields of a greeting, between semicolons. */
export const writeHello = ({ from, to, once, signature }: Hello): string => [from, to, once, signature].join(';');

function readHello(value: string | string[] | undefined): Hello | undefined {
  const { data } = HelloFields.safeParse(typeof value === 'string' ? value.split(';') : undefined);
  if (data === undefined) return undefined;
  const [from, to, once, signature] = data;
  return { from, to, once, signature };
}

const STRANGER: Answer = json(403, { error: 'Only daemons that share the database of this one are answered here.' });
