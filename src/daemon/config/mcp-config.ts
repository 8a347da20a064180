import path from 'node:path';
import { z } from 'zod';
import { SERVER_NAME } from '../../agent/mcp/tool-name.ts';
import { AllowedHost } from './tools-config.ts';

const Folder = z
  .string()
  .max(4_096)
  .refine((text) => path.isAbsolute(text) || /^~(\/|$)/.test(text), 'must be absolute or start with ~/');

/** These would reach programs outside the sandbox, before the server's own. */
const NOT_PASSED = /^(LD_.*|BASH_.*|ENV|SHELLOPTS|HEADGATE_COMMAND)$/;

const Variables = z
  .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'must be the name of a variable'), z.string().max(32_768))
  .superRefine((env, { addIssue }) => {
    for (const name of Object.keys(env))
      if (NOT_PASSED.test(name)) addIssue({ code: 'custom', path: [name], message: 'cannot be set for a tool server' });
  });

const Headers = z.record(
  z.string().regex(/^[A-Za-z0-9-]{1,128}$/, 'must be the name of a header'),
  z
    .string()
    .max(32_768)
    .regex(/^[^\r\n\0]*$/, 'must be one line'),
);

const Address = z
  .url({ protocol: /^https?$/ })
  .max(4_096)
  .refine((text) => !hasLogin(text), 'must not contain a user or a password');

/** Also asked about a text that is no address, which has its own problem. */
function hasLogin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.username + url.password !== '';
}

const FILLED = 'The name of a variable of the daemon, in braces after a dollar sign, stands for its value.';

const Scope = z.string().regex(/^[\x21\x23-\x5B\x5D-\x7E]{1,200}$/, 'must be a scope of OAuth');

const OAuth = z.object({
  scopes: z.array(Scope).max(50).default([]).describe('The rights to ask for. Default: those that the server names.'),
  clientId: z
    .string()
    .min(1)
    .max(2_048)
    .optional()
    .describe('The client, if it was registered by hand. Default: Headgate registers itself.'),
  issuer: Address.optional().describe(
    'The issuer of the provider that this client is registered with. The client is used nowhere else.',
  ),
  clientSecret: z.string().max(2_048).optional().describe(`Its secret. ${FILLED}`),
});

const ServerFields = z.object({
  command: z.string().min(1).max(4_096).optional().describe('The program of the server.'),
  url: Address.optional().describe('The address of a server that somebody else runs (streamable HTTP).'),
  headers: Headers.default({}).describe(`Headers of requests to that address. ${FILLED}`),
  oauth: OAuth.optional().describe('Each person uses the server with an account of their own (OAuth).'),
  args: z.array(z.string().max(32_768)).max(200).default([]).describe('Its arguments.'),
  env: Variables.default({}).describe(`Its variables. ${FILLED}`),
  network: z.array(AllowedHost).max(200).default([]).describe('Hosts that it may connect to. Default: none.'),
  folders: z.array(Folder).max(50).default([]).describe('Folders that it may read, besides its own.'),
  writesFolders: z.boolean().default(false).describe('Whether it may change these folders.'),
  sandbox: z.boolean().default(true).describe('Whether it runs in the sandbox. Without one, it does not run then.'),
  autoApprove: z.boolean().default(false).describe('Whether its tools run unasked.'),
  enabled: z.boolean().default(true).describe('Whether it is used.'),
  timeoutSecs: z.int().min(1).max(3_600).default(120).describe('The time limit of one call in seconds.'),
});

/** The settings of one server. */
export const ServerConfig = ServerFields.refine(
  ({ command, url }) => (command === undefined) !== (url === undefined),
  'needs either command (a program here) or url (a server elsewhere)',
)
  .refine(({ url, oauth }) => oauth === undefined || url !== undefined, 'oauth needs a url')
  .refine(
    ({ headers, oauth }) => oauth === undefined || !Object.keys(headers).some((name) => /^authorization$/i.test(name)),
    'needs either oauth or the header Authorization',
  );

/** Tool servers (MCP). */
export const McpConfig = z.object({
  servers: z
    .record(
      z.string().regex(SERVER_NAME, 'must match [a-zA-Z0-9._-]+, without __, and have at most 64 characters'),
      ServerConfig,
    )
    .default({})
    .refine((servers) => Object.keys(servers).length <= 200, 'Maximum 200 servers')
    .describe('Tool servers by name.'),
  maxServers: z.int().min(1).max(2_000).default(200).describe('How many tool servers there may be.'),
  registryUrl: Address.default('https://registry.modelcontextprotocol.io').describe(
    'The registry in which tool servers are searched.',
  ),
  clientMetadataUrl: z
    .url({ protocol: /^https$/ })
    .max(2_048)
    .refine((text) => !/[#?]/.test(text) && URL.parse(text)?.pathname !== '/', 'must have a path, and no ? or #')
    .optional()
    .describe(
      'The address of a client metadata document that describes Headgate to the providers of accounts at tool servers. Default: Headgate registers itself.',
    ),
  idleMinutes: z
    .int()
    .min(1)
    .max(10_080)
    .default(10)
    .describe('Minutes after which a tool server is ended that nobody uses. It is started again when it is needed.'),
});
