import type { CallableMethod, GatewayClient } from '../../../protocol/client/ws-client.ts';
import { CONTRACTS, isMethodName, type ParamsInput } from '../../../protocol/index.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import type { Surroundings } from '../../home/home-path.ts';
import { randomIds } from '../../ids.ts';
import { UsageError } from '../../start-error.ts';
import { readVersion } from '../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../connect.ts';
import { parseParams } from '../json-params.ts';
import { toSafeText } from '../terminal/safe-text.ts';

interface CallOptions {
  method: string;
  /** JSON text. */
  params: string | undefined;
  flags: TargetFlags;
  around: Surroundings;
  root: URL;
}

/** Calls one method of a running daemon. The result goes to stdout as JSON, an interim answer to stderr. */
export async function call({ method, params, flags, around, root }: CallOptions): Promise<void> {
  if (!isCallable(method)) {
    const names = Object.keys(CONTRACTS).filter(isCallable).join(', ');
    throw new UsageError(`Unknown method "${method}". Use one of: ${names}.`);
  }
  const given = withKey(method, parseParams(params));
  const target = await resolveTarget(flags, around);
  const caller = { target, version: await readVersion(root) };
  const result = await withClient(caller, (client) => callMethod(client, method, given));
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
}

const isCallable = (name: string): name is CallableMethod => isMethodName(name) && name !== 'connect';

type Given = ReturnType<typeof parseParams>;

/** A typed call is meant once, so a method that requires an idempotency key gets a generated one. */
function withKey(method: CallableMethod, params: Given): Given {
  if (CONTRACTS[method].idempotency !== 'required' || params?.idempotencyKey !== undefined) return params;
  return { ...params, idempotencyKey: randomIds.id('cli') };
}

function callMethod(client: GatewayClient, method: CallableMethod, params: Given): Promise<unknown> {
  return client.call(
    method,
    params as ParamsInput<CallableMethod>, // typed by a person: the daemon validates it
    {
      timeoutMs: patienceMs(method, params),
      onInterim(payload) {
        process.stderr.write(`${JSON.stringify(payload)}\n`);
        // Fails without the approve scope or without a connection; the call itself reports what matters.
        if (method === 'agent') tellOfQuestions(client, params).catch(() => undefined);
      },
    },
  );
}

/** As long as `agent.wait` waits by default. */
const USUAL_MS = 30_000;
/** For the way of a call and its answer. */
const WAY_MS = 10_000;

/** How long a call may take: as long as its params ask the daemon to wait. Undefined: `agent`, which first says that it was accepted. */
export function patienceMs(method: CallableMethod, params: Given): number | undefined {
  if (CONTRACTS[method].interim !== undefined) return undefined;
  return (typeof params?.timeoutMs === 'number' ? params.timeoutMs : USUAL_MS) + WAY_MS;
}

/** Without these hints, a run that waits for an approval, or behind one that does, would only be silent. */
async function tellOfQuestions(client: GatewayClient, params: Given): Promise<void> {
  const { sessionKey, sessionId } = params ?? {};
  const asked = [sessionKey, sessionId].find((key) => typeof key === 'string' && key.trim() !== '');
  const { key } = await client.call('sessions.resolve', { key: typeof asked === 'string' ? asked.trim() : 'main' });
  const told = new Set<string>();
  const tell = (approval: Approval) => {
    if (approval.sessionKey !== key || told.has(approval.approvalId)) return;
    told.add(approval.approvalId);
    process.stderr.write(toHint(approval));
  };
  client.on('approval.requested', tell);
  for (const approval of (await client.call('approval.list', {})).approvals) tell(approval);
}

const toHint = ({ approvalId, sessionKey, items }: Approval): string => {
  const tools = items.map(({ func_name }) => toSafeText(func_name)).join(', ');
  const params = JSON.stringify({ approvalId, approved: true });
  return `${sessionKey} waits for a decision (${tools}): headgate chat, or headgate call approval.resolve '${params}'\n`;
};
