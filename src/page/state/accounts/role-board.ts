import { type ReadonlySignal, signal } from '@preact/signals';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { ParamsInput } from '../../../../protocol/index.ts';
import { BUILTIN_ROLES, isBuiltinRole } from '../../../../protocol/methods/accounts/permissions.ts';
import type { Role } from '../../../../protocol/methods/accounts/role.ts';
import { attempt, refusalOf } from './refusal.ts';

/** The roles of the daemon. */
export class RoleBoard {
  readonly #client: Pick<GatewayClient, 'call'>;
  readonly #roles = signal<readonly Role[] | undefined>(undefined);
  readonly #problem = signal<string | undefined>(undefined);

  constructor(client: Pick<GatewayClient, 'call'>) {
    this.#client = client;
  }

  /** The built-in ones first. Undefined until the first answer. */
  get roles(): ReadonlySignal<readonly Role[] | undefined> {
    return this.#roles;
  }

  /** Why they could not be read. */
  get problem(): ReadonlySignal<string | undefined> {
    return this.#problem;
  }

  async read(): Promise<void> {
    try {
      const { roles } = await this.#client.call('role.list', {});
      this.#roles.value = roles;
      this.#problem.value = undefined;
    } catch (error) {
      this.#problem.value = refusalOf(error);
    }
  }

  /** Whoever may not see the roles any more must not be offered them. */
  forget(): void {
    this.#roles.value = undefined;
  }

  /** This and the next methods return an error message, or undefined on success. */
  add(params: ParamsInput<'role.create'>): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('role.create', params));
  }

  change(params: ParamsInput<'role.update'>): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('role.update', params));
  }

  remove(roleId: string): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('role.delete', { roleId }));
  }

  /** The name to show for a role id. */
  nameOf(roleId: string): string {
    const known = this.#roles.value?.find((role) => role.roleId === roleId);
    if (known) return known.displayName;
    return isBuiltinRole(roleId) ? BUILTIN_ROLES[roleId].displayName : roleId;
  }

  /** The roles that a form offers: all, or without the right to see them the built-in ones and those already held. */
  choices(held: readonly string[]): string[] {
    const known = this.#roles.value?.map(({ roleId }) => roleId) ?? Object.keys(BUILTIN_ROLES);
    return [...new Set([...known, ...held])];
  }

  async #attempt(act: () => Promise<unknown>): Promise<string | undefined> {
    const problem = await attempt(act);
    await this.read(); // after a refusal too: the list may be out of date
    return problem;
  }
}
