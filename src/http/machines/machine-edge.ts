import type { MachineSessions } from '../../gateway/auth/machines/machine-sessions.ts';
import type { Log } from '../../log.ts';
import { type Answer, json, type Respond } from '../exchange.ts';
import type { EdgeHandler } from '../express-classes.ts';
import { attempt } from '../guard.ts';

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
    if (method !== 'POST') return void respond(exchange, ONLY_POST);
    attempt(
      exchange,
      async () => {
        const { greet } = await import('./greet.ts'); // most daemons have no others
        respond(exchange, await greet(headers[GREETING], machines));
      },
      { respond, log },
    );
  };

const ONLY_POST: Answer = { ...json(405, { error: 'Only POST is answered here.' }), headers: { Allow: 'POST' } };
