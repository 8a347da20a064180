import { createServer, type ServerResponse } from 'node:http';
import { listen } from '../../../src/listen.ts';

/** The next answers of the registry; without one, it has the entry. */
export const answers: ((res: ServerResponse) => void)[] = [];
export const asked: string[] = [];
export const ENTRY = {
  name: 'io.github.ada/notes',
  description: 'Keeps \u001b[31mnotes.',
  version: '1.2.3',
  packages: [
    {
      registryType: 'npm',
      identifier: '@ada/notes',
      version: '1.2.3',
      transport: { type: 'stdio' },
      runtimeArguments: [{ type: 'positional', value: '-y' }],
      packageArguments: [
        { type: 'named', name: '--region', value: '{region}', variables: { region: { isRequired: true } } },
      ],
      environmentVariables: [{ name: 'NOTES_TOKEN', description: 'A token', isRequired: true, isSecret: true }],
    },
    { registryType: 'npm', identifier: '@ada/notes', version: 'latest' },
    { registryType: 'npm', identifier: '--evil', version: '1.2.3' },
    {
      registryType: 'npm',
      identifier: '@ada/notes',
      version: '1.2.3',
      runtimeArguments: [{ type: 'named', name: '--package', value: 'evil' }],
    },
    { registryType: 'oci', identifier: 'ada/notes', version: '1.2.3' },
  ],
  remotes: [
    {
      type: 'streamable-http',
      url: 'https://{tenant}.example.com/mcp',
      variables: { tenant: { default: 'main' } },
      headers: [
        { name: 'Authorization', value: 'Bearer {token}', variables: { token: { isRequired: true, isSecret: true } } },
      ],
    },
    { type: 'sse', url: 'https://old.example.com/sse' },
  ],
};
const registry = createServer((req, res) => {
  asked.push(req.url ?? '');
  const next = answers.shift();
  if (next) return next(res);
  const isOne = req.url?.startsWith(`/v0.1/servers/${encodeURIComponent(ENTRY.name)}/versions/`);
  const isList = req.url?.startsWith('/v0.1/servers?');
  res.statusCode = isOne || isList ? 200 : 404;
  const one = { server: ENTRY, _meta: {} };
  res.end(
    JSON.stringify(isOne ? one : isList ? { servers: [one, { server: 5 }], metadata: { nextCursor: 'more' } } : {}),
  );
});

/** A registry of tool servers with one entry. Returns its address. */
export async function startRegistry(): Promise<string> {
  return `http://127.0.0.1:${await listen(registry, { host: '127.0.0.1', port: 0 })}`;
}

export function closeRegistry(): void {
  registry.closeAllConnections();
  registry.close();
}
