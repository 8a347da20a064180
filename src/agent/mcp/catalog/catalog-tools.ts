import type { Tool } from '../../tools/tool.ts';
import type { CallDeps } from '../call-tool.ts';
import type { Offers } from '../known-tools.ts';
import type { ServerConfig } from '../server-config.ts';
import type { ToolServer } from '../tool-server.ts';
import { createPromptTools } from './prompt-tools.ts';
import { createResourceTools } from './resource-tools.ts';

/** A server that offers resources or prompts. */
export interface OfferingServer {
  name: string;
  config: ServerConfig;
  server: Pick<ToolServer, 'call' | 'refresh' | 'catalog' | 'callsUnderWay'>;
}

export interface CatalogDeps {
  servers(what: keyof Offers): OfferingServer[];
  deps: CallDeps;
}

/** The tools for what servers offer besides tools. Models are told of them only where a server offers something. */
export function createCatalogTools(from: CatalogDeps): { all: Tool[]; offered(): Tool[] } {
  const resources = createResourceTools(from);
  const prompts = createPromptTools(from);
  return {
    all: [...resources, ...prompts],
    offered: () => [
      ...(from.servers('resources').length > 0 ? resources : []),
      ...(from.servers('prompts').length > 0 ? prompts : []),
    ],
  };
}
