import type { Accounts } from './accounts.ts';

const unused = async () => {
  throw new Error('no server of this test is used with accounts');
};

/** For servers without accounts. */
export const NO_ACCOUNTS: Accounts = {
  userIn: unused,
  nameOf: (user) => user,
  missing: unused,
  token: unused,
  renew: unused,
  needs: unused,
  onChanged: () => undefined,
};
