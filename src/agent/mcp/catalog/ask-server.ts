import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { Prepared } from '../../tools/tool.ts';
import { type CallDeps, type CalledTool, callTool } from '../call-tool.ts';
import { accountLine, toReading, withoutConsent } from '../server-tool.ts';
import { toToolName } from '../tool-name.ts';
import type { OfferingServer } from './offering-server.ts';

interface Asked extends Pick<CalledTool, 'method' | 'params' | 'read' | 'wsId' | 'callId'> {
  subject: string;
  preview: string;
  /** The last part of the name that rules know: `mcp__server__label`. */
  label: string;
}

const MOST_SUBJECT = 200;

/** A request for something that a server offers. It asks, and is ruled, like a call of a tool of this server. */
export async function askServer(
  { name, config, server }: OfferingServer,
  asked: Asked,
  deps: CallDeps,
): Promise<Prepared> {
  const approvalLabel = toToolName(name, asked.label);
  const account = await server.accountFor?.(asked.wsId);
  if (account?.kind === 'missing') return withoutConsent(approvalLabel, account);
  return {
    kind: 'ready',
    subject: toVisibleLine(asked.subject.slice(0, MOST_SUBJECT)),
    preview: `${asked.preview}${accountLine(account)}`,
    approvalLabel,
    needsApproval: !config.autoApprove,
    reading: toReading({ name, config }),
    bindTo: JSON.stringify([name, config.command, config.url, config.args, ...(account ? [account.user] : [])]),
    execute: (run) =>
      callTool(
        {
          server: name,
          method: asked.method,
          params: asked.params,
          read: asked.read,
          wsId: asked.wsId,
          callId: asked.callId,
          timeoutSecs: config.timeoutSecs,
          send: (call) => server.call(call),
        },
        run,
        deps,
      ),
  };
}
