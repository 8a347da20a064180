import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** What the tool server of a scenario is called. */
export const toServerName = (scenario: string): string => scenario.replaceAll(/[^a-z0-9]+/g, '-');

/** Changes a part of the configuration, as an operator would with an editor. */
export async function configure(
  home: string,
  mcp: { servers: Record<string, object>; clientMetadataUrl?: string },
): Promise<void> {
  const file = path.join(home, 'config.json');
  const config = JSON.parse(await readFile(file, 'utf8').catch(() => '{}'));
  await writeFile(file, JSON.stringify({ ...config, mcp: { ...config.mcp, ...mcp } }), { mode: 0o600 });
}
