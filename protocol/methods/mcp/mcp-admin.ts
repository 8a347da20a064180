import { z } from 'zod';
import { always, contract } from '../../contract.ts';
import { NonEmpty, optionalText } from '../../frames.ts';
import { McpServer, reveals } from '../admin/mcp.ts';

const ServerId = NonEmpty.max(128);
const Values = z.record(z.string().max(128), z.string().max(32_768));
const Texts = z.array(z.string().max(32_768));

/** The settings of a tool server, as in config.json. */
const fields = {
  /** `stdio` or `streamable-http`. Default: by `command` and `url`. */
  transport: optionalText(32),
  command: optionalText(4_096),
  args: Texts.max(200).optional(),
  url: optionalText(4_096),
  /** `***` keeps the stored value, here and in the other fields. */
  headers: Values.optional(),
  /** `none`, `static` (with these headers) or `oauth_user`: each person uses it with an account of their own. */
  authType: optionalText(32),
  /** For `oauth_user`. Missing parts keep their value. */
  oauth: z
    .strictObject({
      scopes: Texts.max(50).optional(),
      clientId: optionalText(2_048),
      /** The provider that the client is registered with. */
      issuer: optionalText(4_096),
      clientSecret: optionalText(2_048),
    })
    .optional(),
  env: Values.optional(),
  /** Default for a new server: where a command such as `npx` gets its packages from; otherwise none. */
  network: Texts.max(200).optional(),
  folders: Texts.max(50).optional(),
  writesFolders: z.boolean().optional(),
  sandbox: z.boolean().optional(),
  autoApprove: z.boolean().optional(),
  enabled: z.boolean().optional(),
  timeoutSecs: z.int().optional(),
};

const rights = { scope: 'approve', permission: 'admin.mcp', stepUp: always } as const;
/** Whoever adds a server has it run for longer than an hour. */
const changes = { ...rights, refusesServices: true, serial: () => 'mcp' } as const;

/** The tool servers that are added over the wire. Those of config.json are changed only there. */
export const mcpAdminContracts = {
  'mcp.get': contract({
    summary: 'One tool server. Secrets are masked.',
    scope: 'approve',
    permission: 'admin.mcp',
    audit: { action: 'mcp.reveal', id: 'serverId', when: reveals },
    stepUp: reveals,
    params: () =>
      z
        .strictObject({
          serverId: ServerId,
          /** Shows the secrets of a server that was added over the wire. Default: false. */
          reveal: z.boolean().optional(),
        })
        .meta({ id: 'McpGetParams' }),
    result: () => McpServer,
  }),
  'mcp.create': contract({
    ...changes,
    summary: 'Add a tool server. It is asked for its tools at once.',
    audit: { action: 'mcp.create', id: 'serverId' },
    params: () => z.strictObject({ name: z.string().max(256), ...fields }).meta({ id: 'McpCreateParams' }),
    result: () => McpServer,
  }),
  'mcp.update': contract({
    ...changes,
    summary: 'Change a tool server. Calls under way end first; the next one starts it as it is now.',
    audit: { action: 'mcp.update', id: 'serverId' },
    params: () =>
      z
        .strictObject({ serverId: ServerId, name: z.string().max(256).optional(), ...fields })
        .meta({ id: 'McpUpdateParams' }),
    result: () => McpServer,
  }),
  'mcp.delete': contract({
    ...changes,
    summary: 'Remove a tool server. It ends at once, with the calls under way.',
    audit: { action: 'mcp.delete', id: 'serverId' },
    params: () => z.strictObject({ serverId: ServerId }).meta({ id: 'McpDeleteParams' }),
    result: () => z.strictObject({ status: z.literal('ok') }).meta({ id: 'McpDeleteResult' }),
  }),
  'mcp.import': contract({
    ...changes,
    summary: 'Add the tool servers of a configuration file of another program: an object with `mcpServers`.',
    audit: { action: 'mcp.import', when: ({ dryRun }) => dryRun !== true },
    params: () =>
      z
        .strictObject({
          config: z.record(z.string(), z.unknown()),
          /** Checks everything and stores nothing. Default: false. */
          dryRun: z.boolean().optional(),
        })
        .meta({ id: 'McpImportParams' }),
    result: () =>
      z
        .strictObject({
          /** The names of the servers that were added. */
          imported: z.array(z.string()),
          /** The names of those that exist already. */
          skipped: z.array(z.string()),
          /** What was wrong with others: `name: problem`. */
          errors: z.array(z.string()),
          /** What was left out of those that were added: `name: what`. */
          notes: z.array(z.string()),
        })
        .meta({ id: 'McpImportResult' }),
  }),
  'mcp.reload': contract({
    scope: 'approve',
    permission: 'admin.mcp',
    summary: 'Read the tool servers of the database again, and ask those again that have failed.',
    audit: { action: 'mcp.reload', id: 'serverId' },
    weight: 5,
    params: () =>
      z
        .strictObject({
          /** Starts this server again instead, when its calls have ended. */
          serverId: optionalText(128),
        })
        .meta({ id: 'McpReloadParams' }),
    result: () =>
      z
        .strictObject({
          status: z.literal('ok'),
          nodeId: z.string(),
          /** The names of servers, by what the database said of them now. */
          added: z.array(z.string()),
          removed: z.array(z.string()),
          changed: z.array(z.string()),
        })
        .meta({ id: 'McpReloadResult' }),
    serial: () => 'mcp',
  }),
};
