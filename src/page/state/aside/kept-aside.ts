import { isRecord } from '../../../../protocol/is-record.ts';
import { type AsideTarget, isAboutFiles } from './aside-target.ts';

const MEMORY_KEY = 'headgate.aside';

/** What stands beside a conversation, over a reload. Files do not, so that no paths remain in the browser. */
export class KeptAside {
  readonly #memory: Pick<Storage, 'getItem' | 'setItem'>;

  constructor(memory: Pick<Storage, 'getItem' | 'setItem'>) {
    this.#memory = memory;
  }

  find(wsId: string): AsideTarget | undefined {
    const [whose, target] = this.#read();
    return whose === wsId ? toTarget(target) : undefined;
  }

  keep(wsId: string, target: AsideTarget | undefined): void {
    const [whose] = this.#read();
    const isKept = target !== undefined && !isAboutFiles(target);
    if (!isKept && whose !== wsId) return; // it is that of another conversation
    this.#memory.setItem(MEMORY_KEY, JSON.stringify(isKept ? [wsId, target] : []));
  }

  #read(): unknown[] {
    try {
      const stored: unknown = JSON.parse(this.#memory.getItem(MEMORY_KEY) ?? '[]');
      return Array.isArray(stored) ? stored : [];
    } catch {
      return []; // not ours, or damaged
    }
  }
}

function toTarget(stored: unknown): AsideTarget | undefined {
  if (!isRecord(stored)) return undefined;
  const { view, callId, commandId, agentId } = stored;
  if (view === 'command' && typeof commandId === 'string') return { view, commandId };
  if (view === 'agent' && typeof agentId === 'string') return { view, agentId };
  if ((view === 'output' || view === 'agent' || view === 'plan') && typeof callId === 'string') return { view, callId };
  return undefined;
}
