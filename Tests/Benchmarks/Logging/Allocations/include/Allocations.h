#pragma once

/// How many blocks of memory the process has asked for; -1 where they cannot be counted.
long allocations_count(void);
