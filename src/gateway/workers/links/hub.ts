import type { Transport, TransportDeps } from '../../../bus/transport.ts';
import type { Clock } from '../../../clock.ts';
import type { Ids } from '../../../ids.ts';
import type { Log } from '../../../log.ts';
import { answerGreeting, beginGreeting, type Hello, type Welcome } from '../../auth/machines/greeting.ts';
import type { MachineKey } from '../../auth/machines/machine-key.ts';
import { readEnvelope, writeEnvelope } from './envelope.ts';
import { createLink, type Link, type LinkHandlers } from './link.ts';
import { createSeal, type End } from './sealed-messages.ts';

/** The links of this daemon to others of its database. */
export interface Hub {
  /** Greets a process. Rejects if it does not answer, or not as the owner of this key. */
  open(process: string, publicKey: string): Promise<Link>;
  readonly isConnected: boolean;
  close(): Promise<void>;
}

/** What links do with what they receive. */
export interface HubHandlers {
  /** Of a link that another daemon has opened; undefined: this daemon is greeted by none. */
  onGreeted: ((link: () => Link) => LinkHandlers) | undefined;
  /** Of a link that this daemon opens. */
  handlersOf: (link: () => Link) => LinkHandlers;
}

/** Connects to the bus, if necessary again and again; undefined: the signal was aborted before. */
export type OpenHub = (handlers: HubHandlers, signal: AbortSignal) => Promise<Hub | undefined>;

export interface HubDeps {
  own: { process: string; key: MachineKey };
  connect(deps: TransportDeps): Promise<Transport>;
  /** The public key of a process, as the database knows it now. */
  findKey(process: string): Promise<string | undefined>;
  clock: Clock;
  ids: Pick<Ids, 'secret'>;
  log: Log;
}

/** How long the answer to a greeting may take. */
const GREETING_MS = 3_000;

/** Connects to the bus. Throws in words if that fails. */
export async function openHub(deps: HubDeps, handlers: HubHandlers): Promise<Hub> {
  const { own, clock, log } = deps;
  const links = new Map<string, Link>();
  const greetings = new Map<string, (welcome: Welcome) => void>();
  const transport = await deps.connect({ own: own.process, onMessage: (message) => take(message) });

  const begin = (to: string, session: string, { secret, end, handlers: make }: Begun): Link => {
    const link: Link = createLink({
      seal: createSeal(secret, end),
      send: (sealed) => transport.send(to, writeEnvelope({ kind: 'sealed', session, sealed })),
      handlers: make(() => link),
      clock,
      log,
    });
    links.set(session, link);
    link.ended.addEventListener('abort', () => links.delete(session));
    return link;
  };
  const welcome = async (hello: Hello): Promise<void> => {
    const { findKey, ids } = deps;
    const { onGreeted } = handlers;
    if (onGreeted === undefined || hello.to !== own.process) return;
    const publicKey = await findKey(hello.from);
    const session = ids.secret(16);
    const answered = publicKey && answerGreeting(hello, { publicKey, session, key: own.key });
    if (!answered) return;
    const { secret, welcome: answer } = answered;
    transport.send(hello.from, writeEnvelope({ kind: 'welcome', once: hello.once, welcome: answer }));
    begin(hello.from, session, { secret, end: 'answered', handlers: onGreeted });
  };
  const take = (message: Uint8Array): void => {
    const envelope = readEnvelope(message);
    if (envelope?.kind === 'sealed') links.get(envelope.session)?.take(envelope.sealed);
    else if (envelope?.kind === 'welcome') greetings.get(envelope.once)?.(envelope.welcome);
    else if (envelope)
      welcome(envelope.hello).catch((err: unknown) => log.warn({ err }, 'a daemon could not be greeted'));
  };
  transport.onState((isConnected) => {
    if (!isConnected) for (const link of [...links.values()]) link.end('the bus is not connected');
  });

  return {
    async open(process, publicKey) {
      const greeting = beginGreeting(own, process);
      const { once } = greeting.hello;
      const opened = Promise.withResolvers<Link>();
      // The link takes the message that comes next, so it has to be there at once.
      greetings.set(once, (answer) => {
        const secret = greeting.secretOf(answer, publicKey);
        if (secret === undefined) opened.reject(new Error('it is not the daemon that the database names'));
        else opened.resolve(begin(process, answer.session, { secret, end: 'asked', handlers: handlers.handlersOf }));
      });
      const over = new AbortController();
      try {
        transport.send(process, writeEnvelope({ kind: 'hello', hello: greeting.hello }));
        const late = clock.sleep(GREETING_MS, over.signal).then(() => Promise.reject(new Error('it does not answer')));
        return await Promise.race([opened.promise, late]);
      } finally {
        over.abort();
        greetings.delete(once);
      }
    },
    get isConnected() {
      return transport.isConnected;
    },
    async close() {
      for (const link of [...links.values()]) link.end('this daemon stops');
      await transport.close();
    },
  };
}

interface Begun {
  secret: Buffer;
  end: End;
  handlers(link: () => Link): LinkHandlers;
}
