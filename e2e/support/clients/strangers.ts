import type { TestContext } from 'node:test';
import { createGatewayClient } from '../../../protocol/client/ws-client.ts';
import type { ParamsInput } from '../../../protocol/index.ts';
import type { DaemonUnderTest } from '../daemon/daemon.ts';

type Asked = Omit<ParamsInput<'node.pair.request'>, 'nodeId'>;

/** A machine with any description; its request ends with its connection. */
export async function openStranger(t: TestContext, daemon: DaemonUnderTest, nodeId: string) {
  const node = createGatewayClient({
    url: daemon.wsUrl,
    client: { name: `stranger ${nodeId}`, version: '1', mode: 'node', instanceId: nodeId },
  });
  t.after(() => node.close());
  await node.connect();
  return {
    ask: (asked: Asked) => node.call('node.pair.request', { nodeId, ...asked }),
    close: () => node.close(),
  };
}

/** An approved, disconnected node; its pairing ends with the test. */
export async function pairStranger(
  t: TestContext,
  daemon: DaemonUnderTest,
  { nodeId, ...asked }: Asked & { nodeId: string },
) {
  const [operator, node] = [await daemon.client(), await openStranger(t, daemon, nodeId)];
  const { request } = await node.ask(asked);
  await operator.call('node.pair.approve', { requestId: request.requestId });
  t.after(() => operator.call('node.token.revoke', { nodeId }).catch(() => undefined)); // a test may have done it
  node.close();
}
