import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const SUITE = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);

/** The client scenarios of the protocol's makers, without those about accounts. */
export const CORE = ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry'] as const;

/** Some of those about accounts, each of another kind. */
export const SAMPLE = ['auth/basic-cimd', 'auth/scope-step-up', 'auth/2025-03-26-oauth-metadata-backcompat'] as const;

/** Whether the server of a scenario lets in only people with an account there. */
export const isAboutAccounts = (scenario: string): boolean => scenario.startsWith('auth/');

/** All client scenarios of the suite that belong to a published revision of the protocol: neither drafts nor extensions. */
export async function listScenarios(): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [SUITE, 'list', '--client']);
  const [, list = ''] = stdout.split('Client scenarios');
  const lines = [...list.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)].map(([, name = '', of = '']) => ({
    name,
    of: of.split(','),
  }));
  return lines.filter(({ of }) => of.some((revision) => /^\d/.test(revision))).map(({ name }) => name);
}
