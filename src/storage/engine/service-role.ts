// The PostgreSQL role that serves: it owns no table and bypasses nothing. Made by the migrator, taken on by every connection of serve.
export const serviceRole = 'gatehouse_service';
