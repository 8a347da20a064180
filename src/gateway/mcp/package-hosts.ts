const NPM = ['registry.npmjs.org'];
const PYPI = ['pypi.org', 'files.pythonhosted.org'];

const HOSTS: Readonly<Record<string, readonly string[]>> = { npx: NPM, bunx: NPM, pnpx: NPM, uvx: PYPI, pipx: PYPI };

/** Where a command that starts packages gets them from. Without these hosts it would never start. */
export const packageHostsOf = (command: string): string[] => [...(HOSTS[command.split('/').at(-1) ?? ''] ?? [])];
