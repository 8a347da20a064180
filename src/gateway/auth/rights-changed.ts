/** Why a principal ended whose credential is still valid: it may do something else now. Clients may connect again at once. */
export class RightsChanged extends Error {
  override readonly name = 'RightsChanged';

  constructor() {
    super('the rights of this credential have changed');
  }
}
