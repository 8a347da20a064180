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
    changed: z
      .strictObject({
        description: z.string(),
        inputSchema: z.string(),
        /** SHA-256 of all of it, to accept this and nothing else. */
        digest: z.string(),
      })
      .optional(),
    /** Its server has it no longer. */
    isGone: z.boolean(),
  })
  .meta({ id: 'McpTool' });

/** Whether secrets are shown. */
export const reveals = ({ reveal }: { readonly reveal?: unknown }): boolean => reveal === true;

/** A tool server, and what is known of it. */
export const McpServer = z
  .strictObject({
    /** Names it in other calls. Those of config.json are called `config:` and their name. */
    serverId: z.string(),
    name: z.string(),
    /** `config`: it is in config.json, and is changed only there. `store`: it was added over the wire. */
    source: z.enum(['config', 'store']),
    /** The user or principal that added it; empty for those of config.json. */
    createdBy: z.string(),
    createdAtMs: z.int().min(0).optional(),
    updatedAtMs: z.int().min(0).optional(),
    /** What was installed from the registry. */
    origin: z
      .strictObject({
        name: z.string(),
        version: z.string(),
        /** SHA-256 of its entry in the registry. */
        digest: z.string(),
        /** Which of its ways to run, such as `package 0`. */
        choice: z.string(),
      })
      .optional(),
    transport: z.enum(['stdio', 'streamable-http']),
    /** The program; empty for `streamable-http`. */
    command: z.string(),
    /** The address; empty for `stdio`. Passwords and keys in it are masked as `***`. */
    url: z.string(),
    /** `oauth_user`: each person uses it with an account of their own. `static`: with these headers. */
    authType: z.enum(['none', 'static', 'oauth_user']),
    /** Of a server with accounts. */
    oauth: z
      .strictObject({
        /** The rights that are asked for; none: those that the server names. */
        scopes: z.array(z.string()),
        /** Of a client that was registered by hand; empty: the daemon registers itself. */
        clientId: z.string(),
        /** The provider that it is registered with; empty: none was named. */
        issuer: z.string(),
        /** `***`, unless it was asked for with `reveal`; empty: there is none. */
        clientSecret: z.string(),
      })
      .optional(),
    /** Headers of requests. Their values are `***`, unless they were asked for with `reveal`. */
    headers: z.record(z.string(), z.string()),
    /** What looks like a secret in them is masked as `***`. */
    args: z.array(z.string()),
    /** Its variables. Their values are `***`, unless they were asked for with `reveal`. */
    env: z.record(z.string(), z.string()),
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
    /** The machine on which it runs. */
    nodeId: z.string(),
    /** How many calls are under way. */
    calls: z.int().min(0),
    /** How many resources and prompts it offers, as it said last. 0 before it was connected. */
    resources: z.int().min(0),
    prompts: z.int().min(0),
    tools: z.array(McpTool),
  })
  .meta({ id: 'McpServer' });
export type McpServer = z.infer<typeof McpServer>;

/** Tool servers, which give the agent further tools (Model Context Protocol). */
export const mcpContracts = {
  'mcp.list': contract({
    summary: 'The tool servers with their state and tools. Secrets are masked.',
    scope: 'approve',
    permission: 'admin.mcp',
    audit: { action: 'mcp.reveal', when: reveals },
    stepUp: reveals,
    params: () =>
      z
        .strictObject({
          /** Shows the secrets of servers that were added over the wire. Default: false. */
          reveal: z.boolean().optional(),
        })
        .meta({ id: 'McpListParams' }),
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
          /** The digests of the changes that the caller has seen, by tool. CONFLICT if it would accept any other. */
          digests: z.record(z.string().max(256), z.string().max(64)).optional(),
        })
        .meta({ id: 'McpAcceptParams' }),
    result: () => McpServer,
    serial: ({ name }) => `mcp:${name}`,
  }),
};
