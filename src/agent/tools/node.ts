import { z } from 'zod';
import { GatewayError } from '../../../protocol/errors.ts';
import { findTag } from '../guard/tags.ts';
import type { CommandReading } from '../permissions/command-reading.ts';
import { takeHead, takeTail } from '../process/byte-ends.ts';
import { StopReason } from '../stop-reason.ts';
import { toStopLine } from './stop-line.ts';
import type { Prepared, Tool, ToolContext, ToolOutcome } from './tool.ts';

const NodeArguments = z.strictObject({
  action: z.enum(['list', 'invoke']).describe('list: show the nodes; invoke: run a command on one'),
  node: z.string().max(128).optional().describe('Id or name of the node, for invoke'),
  command: z.string().max(128).optional().describe('One of the commands that the node lends, for invoke'),
  params: z.record(z.string(), z.unknown()).optional().describe('Params of the command, for invoke'),
  timeout_secs: z.int().min(1).max(600).optional().describe('Timeout in seconds; 30 by default'),
});
type NodeArguments = z.infer<typeof NodeArguments>;

/** The paired machines that lend commands, as the agent may use them. */
export interface NodeDirectory {
  /** Rejects with GatewayError while they cannot be reached. */
  list(signal: AbortSignal): Promise<NodeSummary[]>;
  /** Rejects when it fails, with Unanswered, and with the signal's reason. Each call runs only once, even after a restart. */
  invoke(call: NodeCall, signal: AbortSignal): Promise<unknown>;
}

/** The command was sent, and its result did not come. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

export interface NodeSummary {
  nodeId: string;
  name: string;
  platform: string | undefined;
  commands: readonly string[];
  isConnected: boolean;
  /** Changes when the node is paired again, because an approval is valid for one pairing only. */
  pairing: string;
}

export interface NodeCall {
  nodeId: string;
  command: string;
  params: unknown;
  timeoutMs: number;
  /** The one that was approved: another machine may have been paired under the id since. */
  pairing: string;
  /** Identifies this tool call uniquely in the database. */
  toolCall: string;
  /** It may have been sent before a restart. */
  wasInterrupted: boolean;
}

const TIMEOUT_SECS = 30;

/** Runs commands on other machines. They need approval, as in bash. */
export function createNodeTool(nodes: NodeDirectory): Tool<NodeArguments> {
  return {
    name: 'node',
    description: [
      'Uses other machines (nodes) that lend commands, such as system.info {}, system.run {argv, cwd?},',
      'file.read {path} and file.write {path, content}. Use action list to see the nodes and their commands.',
    ].join(' '),
    parameters: NodeArguments,
    readOnly: false,
    // An interrupted call is not sent again; only its result is requested.
    safeToRepeat: true,
    prepare: async (args, context) =>
      args.action === 'list' ? prepareList(nodes) : prepareInvoke(args, { nodes, context }),
  };
}

function prepareList(nodes: NodeDirectory): Prepared {
  return {
    kind: 'ready',
    subject: 'list',
    preview: '',
    approvalLabel: 'node',
    needsApproval: false,
    execute: async ({ signal }) => {
      const found = await findNodes(nodes, signal);
      return found.kind === 'away'
        ? { output: `Error: ${found.reason}`, outcome: 'failed' }
        : { output: toList(found.nodes), outcome: 'done' };
    },
  };
}

type FoundNodes = { kind: 'found'; nodes: NodeSummary[] } | { kind: 'away'; reason: string };

async function findNodes(nodes: NodeDirectory, signal: AbortSignal): Promise<FoundNodes> {
  try {
    return { kind: 'found', nodes: await nodes.list(signal) };
  } catch (error) {
    if (error instanceof GatewayError) return { kind: 'away', reason: error.message };
    throw error;
  }
}

function toList(nodes: readonly NodeSummary[]): string {
  if (nodes.length === 0) return 'No node is paired.';
  return nodes
    .map(({ nodeId, name, platform, commands, isConnected }) => {
      const state = isConnected ? 'connected' : 'not connected';
      return `${name} (${nodeId}, ${platform ?? 'unknown platform'}, ${state}): ${commands.join(', ') || 'no commands'}`;
    })
    .join('\n');
}

async function prepareInvoke(
  { node: wanted = '', command = '', params, timeout_secs = TIMEOUT_SECS }: NodeArguments,
  { nodes, context }: { nodes: NodeDirectory; context: ToolContext },
): Promise<Prepared> {
  const subject = `${command || '?'} on ${wanted || '?'}`;
  const refuse = (reason: string): Prepared => ({ kind: 'refused', subject, reason });
  const listed = await findNodes(nodes, context.signal);
  if (listed.kind === 'away') return refuse(listed.reason);
  const found = listed.nodes.filter(({ nodeId, name }) => nodeId === wanted || name === wanted);
  const [node] = found;
  if (node === undefined) return refuse(`Unknown node "${wanted}". Use action list to see the nodes.`);
  if (found.length > 1) return refuse(`Several nodes are named "${wanted}"; use the id.`);
  if (!node.commands.includes(command)) return refuse(`${node.name} does not lend "${command}".`);
  return {
    kind: 'ready',
    subject: `${command} on ${node.name}`,
    preview: `${node.name} (${node.nodeId})\n${command} ${JSON.stringify(params ?? {}, null, 2)}`,
    approvalLabel: `node ${command}`,
    needsApproval: true,
    reading: toNodeEffects(node, command),
    matched: { node: node.nodeId, nodeCommand: command },
    bindTo: `node:${node.nodeId}:${node.pairing}`,
    execute: ({ signal, maxOutputBytes }) =>
      execute(
        nodes.invoke(
          {
            nodeId: node.nodeId,
            command,
            params: params ?? {},
            timeoutMs: timeout_secs * 1_000,
            pairing: node.pairing,
            toolCall: `${context.wsId}:${context.callId}`,
            wasInterrupted: context.wasInterrupted ?? false,
          },
          signal,
        ),
        maxOutputBytes,
      ),
  };
}

/** Of what happens on another machine, only the machine and the command are known. */
const toNodeEffects = (node: NodeSummary, command: string): CommandReading => ({
  commands: [],
  effects: [
    { kind: 'network', target: node.name, certain: true },
    ...(command === 'system.info' ? [] : [{ kind: 'unknown' as const, target: command, certain: false }]),
  ],
  gaps: [],
});

const WHAT_THEN = 'It is unknown whether the command ran on the node.';

async function execute(result: Promise<unknown>, maxBytes: number): Promise<ToolOutcome> {
  try {
    const output = limited(toText(await result), maxBytes);
    return { output, outcome: 'done', ...(findTag(output) !== undefined && { guarded: REDACTED }) };
  } catch (error) {
    // The command goes on: after the restart, the call waits for its result.
    if (error instanceof StopReason && error.kind === 'shutdown') throw error;
    if (error instanceof StopReason) return { output: `${toStopLine(error, 0)} ${WHAT_THEN}`, outcome: 'unknown' };
    if (error instanceof Unanswered) return { output: `Error: ${error.message} ${WHAT_THEN}`, outcome: 'unknown' };
    if (error instanceof Error) return { output: `Error: ${error.message}`, outcome: 'failed' };
    throw error;
  }
}

/** Answers of nodes pass the guard before they are stored, so a tag says that a secret was replaced there. */
const REDACTED: NonNullable<ToolOutcome['guarded']> = { found: new Set(['credential_leak']), isRedacted: true };

const toText = (result: unknown): string => (typeof result === 'string' ? result : JSON.stringify(result, null, 2));

function limited(text: string, maxBytes: number): string {
  const whole = Buffer.from(text);
  if (whole.length <= maxBytes) return text;
  const half = { maxBytes: Math.floor(maxBytes / 2), maxLines: Number.POSITIVE_INFINITY };
  const [head, tail] = [takeHead(whole, half), takeTail(whole, half)];
  return `${head}\n[… ${whole.length - head.length - tail.length} bytes left out …]\n${tail}`;
}
