import { type AgentContext, methods } from '@agentclientprotocol/sdk';
import { createUpload } from '../upload.ts';
import { commandsUpdate } from './available-commands.ts';
import type { DaemonLink } from './daemon-link.ts';
import { createOutgoing } from './outgoing.ts';
import type { Editor } from './questions/questions.ts';
import { Session } from './session.ts';
import { wrongParams } from './told-errors.ts';

interface SessionsDeps {
  link: DaemonLink;
  newKey(): string;
  /** Prints a line for people; not part of the protocol. */
  tell(line: string): void;
}

interface Opening {
  client: AgentContext;
  wsId: string;
  replays: boolean;
  hasForms: boolean;
}

/** The sessions that the editor has open. */
export function createSessions({ link, newKey, tell }: SessionsDeps) {
  const open = new Map<string, Session>();
  const get = (wsId: string): Session => {
    const session = open.get(wsId);
    if (session) return session;
    throw wrongParams(`There is no open session ${wsId}; load it first (session/load)`);
  };
  return {
    get,
    find: (wsId: string) => open.get(wsId),
    async open({ client, wsId, replays, hasForms }: Opening): Promise<Session> {
      const daemon = await link.get();
      open.get(wsId)?.close();
      const session = new Session({
        client: daemon.client,
        wsId,
        upload: createUpload(daemon.target),
        outgoing: createOutgoing({
          sessionId: wsId,
          send: (notification) => client.notify(methods.client.session.update, notification),
        }),
        editorWith: (signal) => toEditor({ client, wsId, hasForms }, signal),
        newKey,
        tell,
        onEnd() {
          if (open.get(wsId) === session) open.delete(wsId);
        },
      });
      open.set(wsId, session);
      await session.open({ replays });
      return session;
    },
    /** Stops what the editor began there; the workstream stays. */
    async end(wsId: string) {
      const session = get(wsId);
      open.delete(wsId);
      if (session.isPrompted) await session.cancel();
      session.close();
      return {};
    },
    async tellCommands(client: AgentContext, wsId: string): Promise<void> {
      const daemon = await link.get();
      const update = await commandsUpdate(daemon.client, wsId);
      await client.notify(methods.client.session.update, { sessionId: wsId, update });
    },
  };
}

const toEditor = (
  { client, wsId, hasForms }: Pick<Opening, 'client' | 'wsId' | 'hasForms'>,
  signal: AbortSignal,
): Editor => {
  const options = { cancellationSignal: signal, stopWaitingOnCancel: true };
  return {
    permit: (request) =>
      client.request(methods.client.session.requestPermission, { sessionId: wsId, ...request }, options),
    fill: hasForms
      ? (form) => client.request(methods.client.elicitation.create, { mode: 'form', sessionId: wsId, ...form }, options)
      : undefined,
  };
};
