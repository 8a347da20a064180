import { type ReadonlySignal, signal } from '@preact/signals';
import type { Result } from '../../../../protocol/index.ts';
import type { McpServer } from '../../../../protocol/methods/admin/mcp.ts';
import { attempt } from '../accounts/refusal.ts';
import type { PageClient } from '../reading/reading.ts';
import { Reading } from '../reading/reading.ts';
import { readConfig, readServer, type ServerTexts } from './server-draft.ts';

/** What an import has done, or would do. */
export type ImportReport = Result<'mcp.import'>;

/** The tool servers, with their state and tools. Nothing is read until they are shown. */
export class ServerBoard {
  readonly #client: PageClient;
  readonly reading: Reading;
  readonly #servers = signal<readonly McpServer[] | undefined>(undefined);

  constructor(client: PageClient) {
    this.#client = client;
    this.reading = new Reading(client);
  }

  /** In the order of the daemon. Undefined until the first answer. */
  get servers(): ReadonlySignal<readonly McpServer[] | undefined> {
    return this.#servers;
  }

  /** Called when the list is shown. No event tells of a changed state, so it is read with each tick, until the returned function is called. */
  follow(): () => void {
    void this.read();
    return this.#client.on('tick', () => void this.read());
  }

  read(): Promise<void> {
    return this.reading.read(
      () => this.#client.call('mcp.list', {}),
      ({ servers }) => {
        this.#servers.value = servers;
      },
    );
  }

  /** Asks a server for its tools now. This and the next method return an error message, or undefined on success. */
  refresh(name: string): Promise<string | undefined> {
    return this.#change(() => this.#client.call('mcp.refresh', { name }));
  }

  /** Accepts the changes of tools of a server as they were shown, of all or of one tool. */
  accept(
    name: string,
    { shown, tool }: { shown: readonly McpServer['tools'][number][]; tool?: string | undefined },
  ): Promise<string | undefined> {
    const seen = shown.flatMap(({ tool, changed }) => (changed ? [[tool, changed.digest] as const] : []));
    const digests = Object.fromEntries(seen);
    return this.#change(() => this.#client.call('mcp.accept', { name, digests, ...(tool !== undefined && { tool }) }));
  }

  /** Adds a server, or changes `before`. This and the next methods return an error message, or undefined on success. */
  save(texts: ServerTexts, before: McpServer | undefined): Promise<string | undefined> {
    return this.#attempt(async () => {
      const given = readServer(texts, before);
      if (before === undefined) return this.#client.call('mcp.create', given);
      return this.#client.call('mcp.update', { serverId: before.serverId, ...given });
    });
  }

  setEnabled(serverId: string, enabled: boolean): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('mcp.update', { serverId, enabled }));
  }

  remove(serverId: string): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('mcp.delete', { serverId }));
  }

  /** Starts a server again. Without one, asks all again that have failed. */
  reload(serverId: string | undefined): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('mcp.reload', serverId === undefined ? {} : { serverId }));
  }

  /** Adds the servers of a configuration file; `dryRun` only says what would happen. Throws with what is wrong. */
  async import(text: string, dryRun: boolean): Promise<ImportReport> {
    const report = await this.#client.call('mcp.import', { config: readConfig(text), dryRun });
    if (!dryRun) await this.read();
    return report;
  }

  async #attempt(act: () => Promise<unknown>): Promise<string | undefined> {
    const problem = await attempt(act);
    await this.read(); // after a refusal too: the list may be out of date
    return problem;
  }

  async #change(act: () => Promise<McpServer>): Promise<string | undefined> {
    const problem = await attempt(async () => {
      const changed = await act();
      this.#servers.value = this.#servers.peek()?.map((one) => (one.name === changed.name ? changed : one));
    });
    if (problem !== undefined) await this.read(); // it says why it cannot be used
    return problem;
  }
}

/** The tools whose server describes them in another way than the one that was accepted. */
export const changedTools = ({ tools }: Pick<McpServer, 'tools'>) =>
  tools.filter(({ changed }) => changed !== undefined);
