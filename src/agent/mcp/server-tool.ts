import { z } from 'zod';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import type { CommandReading } from '../permissions/command-reading.ts';
import type { Prepared, Tool } from '../tools/tool.ts';
import type { CallAccount } from './accounts/user-sessions.ts';
import { readAnswer } from './call-result.ts';
import { type CallDeps, callTool, toConsentOutcome } from './call-tool.ts';
import type { KnownTool } from './known-tools.ts';
import type { ServerConfig } from './server-config.ts';
import type { ServerCall, ServerReply } from './session.ts';
import { toToolName } from './tool-name.ts';

/** The tool's server, as far as a call needs it. */
export interface CallableServer {
  name: string;
  config: ServerConfig;
  call(call: ServerCall): Promise<ServerReply>;
  /** In whose name a call would be, or why it cannot be made; absent: no account is used. */
  accountFor?: ((wsId: string) => Promise<CallAccount>) | undefined;
}

const MOST_SUBJECT = 120;

/** A tool of a server, as the agent calls it. Only its server knows what it does. */
export function createServerTool(
  known: KnownTool,
  server: CallableServer,
  deps: CallDeps,
): Tool<Record<string, unknown>> {
  const name = toToolName(server.name, known.name);
  return {
    name,
    description: `[${known.name} of the tool server ${server.name}, described by its author] ${known.description}`,
    parameters: z.record(z.string(), z.unknown()),
    schema: known.inputSchema,
    readOnly: false,
    safeToRepeat: false,
    prepare: async (args, { wsId, callId }): Promise<Prepared> => {
      const { changed } = known;
      const { config } = server;
      const account = await server.accountFor?.(wsId);
      if (account?.kind === 'missing') return withoutConsent(name, account);
      return {
        kind: 'ready',
        subject: toVisibleLine(JSON.stringify(args).slice(0, MOST_SUBJECT)),
        preview: [
          ...(changed ? [CHANGED] : []),
          `${known.name} of ${server.name}${accountLine(account)}`,
          JSON.stringify(args, null, 2),
        ].join('\n'),
        approvalLabel: name,
        needsApproval: changed !== undefined || !config.autoApprove,
        ...(changed && { asksAnyhow: true as const }),
        reading: toReading(server),
        bindTo: [known.digest, changed?.digest ?? '', ...(account ? [account.user] : [])].join(' '),
        execute: (run) =>
          callTool(
            {
              server: server.name,
              wsId,
              method: 'tools/call',
              params: { name: known.name, arguments: args },
              callId,
              timeoutSecs: config.timeoutSecs,
              send: (call) => server.call(call),
              read: readAnswer,
            },
            run,
            deps,
          ),
      };
    },
  };
}

/** What the person who is asked sees of the account. */
export const accountLine = (account: Extract<CallAccount, { kind: 'account' }> | undefined): string =>
  account ? `, with the account of ${account.name}` : '';

/** Nobody has to be asked about a call that calls nothing. It stays one, even if there is a consent by then. */
export const withoutConsent = (name: string, { note }: Extract<CallAccount, { kind: 'missing' }>): Prepared => ({
  kind: 'ready',
  subject: 'no account is connected',
  preview: '',
  approvalLabel: name,
  needsApproval: false,
  stored: 'read',
  bindTo: 'no account',
  execute: async () => toConsentOutcome(await note()),
});

const CHANGED =
  'The server now describes this tool in another way than when it was accepted. Look at it with headgate mcp, and accept it there.';

/** What it does is not known; it may send what it is given to others if it has a network. */
export function toReading({ name, config }: Pick<CallableServer, 'name' | 'config'>): CommandReading {
  const { url, sandbox, network } = config;
  const reaches = url !== undefined || !sandbox || network.length > 0;
  const target = url === undefined ? name : new URL(url).hostname;
  return {
    commands: [],
    effects: [
      ...(reaches ? [{ kind: 'network' as const, target, certain: true }] : []),
      { kind: 'unknown', target: name, certain: false },
    ],
    gaps: [],
  };
}
