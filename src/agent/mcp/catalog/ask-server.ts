import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { Prepared } from '../../tools/tool.ts';
import { type CallDeps, type CalledTool, callTool } from '../call-tool.ts';
import { toReading } from '../server-tool.ts';
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
export const askServer = ({ name, config, server }: OfferingServer, asked: Asked, deps: CallDeps): Prepared => ({
  kind: 'ready',
  subject: toVisibleLine(asked.subject.slice(0, MOST_SUBJECT)),
  preview: asked.preview,
  approvalLabel: toToolName(name, asked.label),
  needsApproval: !config.autoApprove,
  reading: toReading({ name, config }),
  bindTo: JSON.stringify([name, config.command, config.url, config.args]),
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
});
