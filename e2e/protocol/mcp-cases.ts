import { fileURLToPath } from 'node:url';
import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';

interface Caller {
  /** As the operator. */
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
}

const FAKE = fileURLToPath(new URL('../../src/agent/mcp/misbehaving-server.ts', import.meta.url));

/** A tool server that runs without a sandbox, so that each machine has it. */
export const MCP_CONFIG = {
  mcp: { servers: { fake: { command: process.execPath, args: [FAKE, 'well'], sandbox: false } } },
};

/** A successful call of each method about tool servers. */
export const mcpCases = ({ call }: Caller) => ({
  'mcp.list': () => call('mcp.list', {}),
  'mcp.refresh': () => call('mcp.refresh', { name: 'fake' }),
  'mcp.accept': () => call('mcp.accept', { name: 'fake' }),
});
