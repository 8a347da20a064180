import type { MachineSessions } from '../../gateway/auth/machines/machine-sessions.ts';
import type { Log } from '../../log.ts';
import { failureAnswer, json, type Respond } from '../exchange.ts';
import type { EdgeHandler } from '../express-classes.ts';
import { attempt } from '../guard.ts';
import type { Failure } from '../status.ts';
import { readHello } from './read-hello.ts';

interface MachineEdgeDeps {
  machines: MachineSessions;
  respond: Respond;
  log: Log;
}

/** Where a daemon greets another one. */
export const GREETING_PATH = '/v1/machines/greeting';

/** The header of a greeting. Everything is in it, so that nothing is read from a caller who is not known yet. */
export const GREETING = 'headgate-greeting';

/** Where the other daemons of the same database introduce themselves, before they forward requests of their clients. */
export const createMachineEdge =
  ({ machines, respond, log }: MachineEdgeDeps): EdgeHandler =>
  ({ method, headers }, res, next) => {
    const { exchange } = res.locals;
    if (exchange.path !== GREETING_PATH) return next();
    exchange.endpoint = GREETING_PATH;
    if (method !== 'POST') return void respond(exchange, failureAnswer(exchange, ONLY_POST));
    attempt(
      exchange,
      async () => {
        const hello = readHello(headers[GREETING]);
        const welcome = hello && (await machines.greet(hello));
        respond(exchange, welcome === undefined ? failureAnswer(exchange, STRANGER) : json(200, welcome));
      },
      { respond, log },
    );
  };

const STRANGER: Failure = {
  status: 403,
  body: { error: 'Only daemons that share the database of this one are answered here.' },
};

const ONLY_POST: Failure = {
  status: 405,
  body: { error: 'Only POST is answered here.' },
  headers: { Allow: 'POST' },
};
