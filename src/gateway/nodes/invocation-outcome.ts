import { z } from 'zod';
import { type ErrorCode, GatewayError } from '../../../protocol/errors.ts';
import type { NodeInvokeResult, NodeInvokeResultParams } from '../../../protocol/methods/node.ts';
import { readJson } from '../connections/json-text.ts';
import { DamagedRow } from '../store/row-checksum.ts';
import { damaged } from '../store/store-fault.ts';
import type { ReadStored } from '../store/stored-value.ts';

/** A node's answer, as stored. */
const Outcome = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ok'), payload: z.unknown(), payloadJSON: z.string().nullable() }),
  z.object({ kind: z.literal('error'), code: z.string(), message: z.string() }),
]);
export type Outcome = z.infer<typeof Outcome>;

/** Throws INTERNAL for one that is damaged. */
export function readOutcome({ id, json }: { id: string; json: string }, read: ReadStored): Outcome {
  const what = `the outcome of command ${id}`;
  const outcome = read(json, what, (value): value is Outcome => Outcome.safeParse(value).success);
  if (!outcome) throw damaged(new DamagedRow(`${what} is altered`));
  return outcome;
}

export function toOutcome({ ok, payload, payloadJSON, error }: NodeInvokeResultParams): Outcome {
  if (ok) return { kind: 'ok', payload: payload ?? null, payloadJSON: payloadJSON ?? null };
  return { kind: 'error', code: error?.code ?? 'UNAVAILABLE', message: error?.message || 'the node gave no reason' };
}

/** The caller's result; throws errors that the node reported. */
export function toResult(asked: { node_id: string; command: string }, outcome: Outcome): NodeInvokeResult {
  if (outcome.kind === 'error') {
    const { code, message } = outcome;
    throw new GatewayError(OF_NODES.get(code) ?? 'UNAVAILABLE', message, {
      details: { nodeError: { code, message } },
      retryable: false, // it is stored, so a repeat gets the same error
    });
  }
  const { payload, payloadJSON } = outcome;
  const sent = { ok: true, nodeId: asked.node_id, command: asked.command, payloadJSON } as const;
  return { ...sent, payload: payloadJSON === null ? payload : parsed(payloadJSON) };
}

/** Codes with the same meaning when a node reports them. Other codes appear only in `details`. */
const OF_NODES = new Map<string, ErrorCode>(
  (['INVALID_REQUEST', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT', 'BUSY', 'PAYLOAD_TOO_LARGE', 'TIMEOUT'] as const).map(
    (code) => [code, code],
  ),
);

/** Text that is not JSON, or too deeply nested, is passed on unparsed. */
function parsed(payloadJSON: string): unknown {
  const json = readJson(payloadJSON);
  return json.kind === 'read' ? json.value : { payloadJSON };
}
