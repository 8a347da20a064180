import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { Log } from '../../log.ts';
import { type ActiveDaemon, type ForwardingSession, type OwnProof, openSession } from './active-daemon.ts';

/** The active daemon, with a session. */
export interface Reached {
  active: ActiveDaemon;
  session: ForwardingSession;
  agent: Agent;
  /** Aborts when this daemon is no longer the one to ask. */
  signal: AbortSignal;
}

/** The daemon that is asked: one at a time. */
export interface Targets {
  /** Undefined if no daemon can be asked now. */
  reach(): Promise<Reached | undefined>;
  /** Ends what goes to a daemon that is active no more. */
  follow(): void;
  /** Ends what goes to this one, and greets it again. */
  leave(reached: Reached): void;
  close(): void;
}

interface TargetsDeps {
  own: OwnProof;
  active(): ActiveDaemon | undefined;
  log: Log;
}

interface Target {
  active: ActiveDaemon;
  session: Promise<ForwardingSession>;
  agent: Agent;
  left: AbortController;
}

export function createTargets({ own, active: findActive, log }: TargetsDeps): Targets {
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
  const open = (active: ActiveDaemon): Target => {
    const Agents = active.address.startsWith('https:') ? SecureAgent : Agent;
    const session = openSession(active, own);
    const opened = { active, session, agent: new Agents({ keepAlive: true }), left: new AbortController() };
    session.catch((error: unknown) => {
      log.warn({ reason: wordsOf(error) }, 'requests cannot be forwarded to the active daemon');
      if (target === opened) leave();
    });
    return opened;
  };

  return {
    async reach() {
      if (isClosed) return undefined;
      follow();
      const active = findActive();
      if (target === undefined && active !== undefined) target = open(active);
      if (target === undefined) return undefined;
      const { active: asked, agent, left, session: opening } = target;
      const session = await opening.catch(() => undefined);
      return session && !left.signal.aborted ? { active: asked, agent, session, signal: left.signal } : undefined;
    },
    follow,
    leave({ signal }) {
      if (target?.left.signal === signal) leave();
    },
    close() {
      isClosed = true;
      leave();
    },
  };
}
