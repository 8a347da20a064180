import { z } from 'zod';
import { GREETING_PATH, type Hello } from '../../gateway/auth/machines/greeting.ts';
import type { MachineSessions } from '../../gateway/auth/machines/machine-sessions.ts';
import type { Log } from '../../log.ts';
import { type Answer, type Exchange, json, type Respond } from '../exchange.ts';
import type { EdgeHandler } from '../express-classes.ts';
import { attempt } from '../guard.ts';

interface MachineEdgeDeps {
  machines: MachineSessions;
  respond: Respond;
  log: Log;
}

/**
 * Where the other daemons of the same database introduce themselves, before they forward requests of their clients. Everything
 * is in one header, so that nothing is read from a caller who is not known yet.
 */
export function createMachineEdge({ machines, respond, log }: MachineEdgeDeps): EdgeHandler {
  const greet = async (exchange: Exchange, hello: Hello) => {
    const welcome = await machines.greet(hello);
    respond(exchange, welcome === undefined ? STRANGER : json(200, welcome));
  };
  return ({ method, headers }, res, next) => {
    const { exchange } = res.locals;
    if (exchange.path !== GREETING_PATH) return next();
    exchange.endpoint = GREETING_PATH;
    if (method !== 'POST') return void respond(exchange, ONLY_POST);
    const hello = readHello(headers[GREETING]);
    if (hello === undefined) return void respond(exchange, STRANGER);
    attempt(exchange, () => greet(exchange, hello), { respond, log });
  };
}

/** The header of a greeting. */
export const GREETING = 'headgate-greeting';

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
const ONLY_POST: Answer = { ...json(405, { error: 'Only POST is answered here.' }), headers: { Allow: 'POST' } };
