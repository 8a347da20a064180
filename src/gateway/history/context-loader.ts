import type { Message } from '../../agent/message.ts';
import type { Cut } from '../cuts/cut.ts';
import { readPrefix } from '../runs/prefix-rows.ts';
import type { Store } from '../store/store.ts';
import type { Templates } from '../templates/templates.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { Messages } from './messages.ts';

interface LoaderDeps {
  store: Store;
  templates: Pick<Templates, 'load'>;
  messages: Pick<Messages, 'context'>;
}

/** Reads the context of a workstream, and into its data what the context begins with. */
export const contextLoader =
  ({ store, templates, messages }: LoaderDeps) =>
  async (data: WorkstreamData, pending?: Cut): Promise<Message[]> => {
    [data.prefix] = await Promise.all([readPrefix(store, data.wsId), templates.load(data)]);
    return messages.context(data, pending);
  };
