import { z } from 'zod';
import { always, contract } from '../../contract.ts';
import { NonEmpty, optionalText } from '../../frames.ts';

const ServerName = NonEmpty.max(64);

/** A tool of a server, as it was accepted. */
const McpTool = z
  .strictObject({
    /** As models and rules call it: `mcp__server__tool`. */
    name: z.string(),
    /** As its server calls it. */
    tool: z.string(),
    description: z.string(),
    /** The JSON Schema of its arguments, as JSON. */
    inputSchema: z.string(),
    /** How its server describes it now, if that is different and nobody has accepted it. Its calls ask until then. */
    changed: z.strictObject({ description: z.string(), inputSchema: z.string() }).optional(),
    /** Its server has it no longer. */
    isGone: z.boolean(),
  })
  .meta({ id: 'McpTool' });

/** A tool server, and what is known of it. */
const McpServer = z
  .strictObject({
    name: z.string(),
    transport: z.enum(['stdio', 'streamable-http']),
    /** The program; empty for `streamable-http`. */
    command: z.string(),
    /** The address; empty for `stdio`. */
    url: z.string(),
    /** `oauth_user`: each person uses it with an account of their own. `static`: with the headers of the configuration. */
    authType: z.enum(['none', 'static', 'oauth_user']),
    /** Names of the headers of requests; their values are masked. */
    headers: z.record(z.string(), z.literal('***')),
    args: z.array(z.string()),
    /** Names of its variables; their values are masked. */
    env: z.record(z.string(), z.literal('***')),
    network: z.array(z.string()),
    folders: z.array(z.string()),
    writesFolders: z.boolean(),
    sandbox: z.boolean(),
    autoApprove: z.boolean(),
    enabled: z.boolean(),
    timeoutSecs: z.int().min(1),
    /** `idle`: it is started when it is needed. `failed`: it is started again after a while, when it is needed. */
    state: z.enum(['idle', 'connecting', 'connected', 'failed', 'disabled']),
    /** Why it cannot be used. */
    problem: z.string().optional(),
    /** What was left out of its list of tools, and why. */
    notes: z.array(z.string()),
    /** What it says it is; empty before it was connected. */
    about: z.string(),
    /** How many calls are under way. */
    calls: z.int().min(0),
    tools: z.array(McpTool),
  })
  .meta({ id: 'McpServer' });
export type McpServer = z.infer<typeof McpServer>;

/** Tool servers, which give the agent further tools (Model Context Protocol). */
export const mcpContracts = {
  'mcp.list': contract({
    summary: 'The tool servers of the configuration, with their state and tools.',
    scope: 'approve',
    permission: 'admin.mcp',
    params: () => z.strictObject({}).meta({ id: 'McpListParams' }),
    result: () => z.strictObject({ servers: z.array(McpServer) }).meta({ id: 'McpListResult' }),
  }),
  'mcp.refresh': contract({
    summary: 'Ask a tool server for its tools now. It is started for that, also while it has to wait after a failure.',
    scope: 'approve',
    permission: 'admin.mcp',
    audit: { action: 'mcp.refresh', id: 'name' },
    weight: 5,
    params: () => z.strictObject({ name: ServerName }).meta({ id: 'McpRefreshParams' }),
    result: () => McpServer,
    serial: ({ name }) => `mcp:${name}`,
  }),
  'mcp.accept': contract({
    summary: 'Accept the tools of a server as it describes them now, all or one.',
    scope: 'approve',
    permission: 'admin.mcp',
    audit: { action: 'mcp.accept', id: 'name' },
    stepUp: always,
    params: () =>
      z
        .strictObject({
          name: ServerName,
          /** As its server calls it. Default: all that have changed. */
          tool: optionalText(256),
        })
        .meta({ id: 'McpAcceptParams' }),
    result: () => McpServer,
    serial: ({ name }) => `mcp:${name}`,
  }),
};
