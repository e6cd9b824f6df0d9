// What a token for SCIM alone begins with: so it is told from an access token, and found by those who look for secrets in code.
export const scimTokenPrefix = 'ghscim_';
