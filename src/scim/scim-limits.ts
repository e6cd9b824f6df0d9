// Bounds on what SCIM clients send, beyond those of contract section 8 (src/contract/limits.ts). Each has a test at n and n+1.

/** UTF-16 units of one certificate. */
export const binaryLengthMax = 65_536;
/** Operations of one PATCH. */
export const patchOperationsMax = 1000;
/** Names in one `attributes` or `excludedAttributes` parameter. */
export const projectionNamesMax = 200;
