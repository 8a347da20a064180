import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import {
  type ClientContext,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
} from '@agentclientprotocol/sdk';
import { type Arrivals, createArrivals } from './arrivals.ts';

/** A permission request, with the signal by which the agent takes it back. */
export interface Asked {
  request: RequestPermissionRequest;
  signal: AbortSignal;
  answer(optionId: string): void;
}

/** The client side of the package of the protocol's makers, over a real process. */
export interface AcpEditor extends AsyncDisposable {
  readonly agent: ClientContext;
  readonly updates: Arrivals<SessionNotification>;
  readonly permissions: Arrivals<Asked>;
  readonly forms: Arrivals<CreateElicitationRequest>;
  /** The text that the agent has said in a session, without what a load replayed before `from`. */
  textIn(sessionId: string, from?: number): string;
  /** The lines that were printed to stdout. */
  lines(): string[];
  stderr(): string;
  readonly child: ChildProcessWithoutNullStreams;
  kill9(): Promise<void>;
}

interface EditorOptions {
  args?: readonly string[];
  env?: Record<string, string>;
  /** Answers forms; without it, the editor has none. */
  fill?(request: CreateElicitationRequest): CreateElicitationResponse;
  /** Default: true. */
  initialize?: boolean;
}

/** Starts `headgate acp`, as an editor does. */
export function spawnAcp({ args = [], env = {} }: Pick<EditorOptions, 'args' | 'env'>) {
  return spawn(process.execPath, ['bin/headgate.js', 'acp', ...args], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    env: { PATH: process.env.PATH, ...env },
    stdio: 'pipe',
  });
}

export async function openEditor(options: EditorOptions = {}): Promise<AcpEditor> {
  const child = spawnAcp(options);
  const [updates, permissions, forms] = [
    createArrivals<SessionNotification>(),
    createArrivals<Asked>(),
    createArrivals<CreateElicitationRequest>(),
  ];
  const read = { stdout: '', stderr: '' };
  const copy = new PassThrough();
  child.stdout.on('data', (bytes: Buffer) => {
    read.stdout += bytes.toString();
  });
  child.stdout.pipe(copy);
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    read.stderr += text;
  });
  const { fill } = options;
  const app = client({ name: 'e2e' })
    .onNotification(methods.client.session.update, ({ params }) => updates.add(params))
    .onRequest(methods.client.elicitation.create, ({ params }) => {
      forms.add(params);
      return fill?.(params) ?? { action: 'decline' };
    })
    .onRequest(methods.client.session.requestPermission, ({ params, signal }) => {
      const { promise, resolve } = Promise.withResolvers<RequestPermissionResponse>();
      signal.addEventListener('abort', () => resolve({ outcome: { outcome: 'cancelled' } }));
      permissions.add({
        request: params,
        signal,
        answer: (optionId) => resolve({ outcome: { outcome: 'selected', optionId } }),
      });
      return promise;
    });
  // The bytes are the same; the types of Node and of the web differ in their generic parameters.
  const output = Readable.toWeb(copy) as ReadableStream<Uint8Array>;
  const connection = app.connect(ndJsonStream(Writable.toWeb(child.stdin), output));
  const { agent } = connection;
  const exited = once(child, 'close');
  if (options.initialize !== false)
    await agent.request(methods.agent.initialize, {
      protocolVersion: 1,
      ...(fill && { clientCapabilities: { elicitation: { form: {} } } }),
    });
  return {
    agent,
    updates,
    permissions,
    forms,
    textIn: (sessionId, from = 0) =>
      updates.all
        .slice(from)
        .map(({ sessionId: id, update }) =>
          id === sessionId && update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text'
            ? update.content.text
            : '',
        )
        .join(''),
    lines: () => read.stdout.split('\n').filter(Boolean),
    stderr: () => read.stderr,
    child,
    async kill9() {
      child.kill('SIGKILL');
      await exited;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await exited;
    },
  };
}

/** Begins a session in a folder. Returns its id. */
export const newSession = async ({ agent }: Pick<AcpEditor, 'agent'>, cwd: string): Promise<string> =>
  (await agent.request(methods.agent.session.new, { cwd, mcpServers: [] })).sessionId;

/** Sends a text; resolves when its turn has ended. */
export const prompt = ({ agent }: Pick<AcpEditor, 'agent'>, sessionId: string, text: string) =>
  agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
