import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { type ActiveDaemon, type ForwardingSession, type OwnProof, openSession } from './active-daemon.ts';

/** The active daemon, with a session. */
export interface Reached {
  active: ActiveDaemon;
  session: ForwardingSession;
  /** Its host, port and protocol, as `request` takes them. */
  to: { host: string; port: string; protocol: string };
  /** Its connections; destroyed with all that goes on when this daemon is no longer the one to ask. */
  agent: Agent;
  /** Aborts when this daemon is no longer the one to ask. */
  signal: AbortSignal;
  /** It does not know the session: the next request greets it again. What goes on is not ended. */
  renew(): void;
}

/** The daemon that is asked: one at a time. */
export interface Targets {
  /** Undefined if no daemon can be asked now. */
  reach(): Promise<Reached | undefined>;
  /** Ends what goes to a daemon that is active no more. */
  follow(): void;
  close(): void;
}

interface TargetsDeps {
  own: OwnProof;
  active(): ActiveDaemon | undefined;
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
}

interface Target extends Pick<Reached, 'active' | 'to' | 'agent'> {
  /** Undefined until it is needed, and after it has failed. */
  opening: Promise<ForwardingSession | undefined> | undefined;
  greetNotBeforeMs: number;
  left: AbortController;
}

/** At most one greeting in this time, whatever clients send: each one costs the active daemon a look into the database. */
const GREETING_PAUSE_MS = 1_000;

export function createTargets({ own, active: findActive, clock, log }: TargetsDeps): Targets {
  let target: Target | undefined;
  let isClosed = false;

  const leave = () => {
    target?.left.abort();
    target?.agent.destroy();
    target = undefined;
  };
  const follow = () => {
    const active = findActive();
    // While the database cannot be reached, the daemon that was active last is asked: it knows whether it still is.
    if (active !== undefined && active.process !== target?.active.process) leave();
  };
  const greet = async (asked: Target): Promise<ForwardingSession | undefined> => {
    asked.greetNotBeforeMs = clock.monotonic() + GREETING_PAUSE_MS;
    try {
      return await openSession(asked.active, own);
    } catch (error) {
      if (!asked.left.signal.aborted)
        log.warn({ reason: wordsOf(error) }, 'requests cannot be forwarded to the active daemon');
      asked.opening = undefined;
      return undefined;
    }
  };
  const sessionOf = (asked: Target) => {
    if (asked.opening === undefined && clock.monotonic() < asked.greetNotBeforeMs) return undefined;
    asked.opening ??= greet(asked);
    return asked.opening;
  };

  return {
    async reach() {
      if (isClosed) return undefined;
      follow();
      const active = findActive();
      if (active !== undefined) target ??= toTarget(active);
      const asked = target;
      const opening = asked && sessionOf(asked);
      const session = await opening;
      if (asked === undefined || session === undefined || asked.left.signal.aborted) return undefined;
      const renew = () => {
        if (asked.opening === opening) asked.opening = undefined;
      };
      return { active: asked.active, to: asked.to, agent: asked.agent, session, signal: asked.left.signal, renew };
    },
    follow,
    close() {
      isClosed = true;
      leave();
    },
  };
}

const toTarget = (active: ActiveDaemon): Target => {
  const { hostname, port, protocol } = new URL(active.address);
  const Agents = protocol === 'https:' ? SecureAgent : Agent;
  return {
    active,
    to: { host: hostname.replace(/^\[|\]$/g, ''), port, protocol },
    opening: undefined,
    greetNotBeforeMs: Number.NEGATIVE_INFINITY,
    agent: new Agents({ keepAlive: true }),
    left: new AbortController(),
  };
};
